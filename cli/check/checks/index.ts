// Every check, in the order of docs/check.md.

import type { Check } from "../check.js";
import { adminMissing } from "./admin-missing.js";
import { attemptsExceedTimeout } from "./attempts-exceed-timeout.js";
import { authorityOfOtherProvider } from "./authority-of-other-provider.js";
import { breakerOfLaterCluster } from "./breaker-of-later-cluster.js";
import { certificateNotChecked } from "./certificate-not-checked.js";
import { clientClaimsInternal } from "./client-claims-internal.js";
import { clientSentAttemptCount } from "./client-sent-attempt-count.js";
import { clusterWithoutEndpoints } from "./cluster-without-endpoints.js";
import { conditionWithoutStatusCodes } from "./condition-without-status-codes.js";
import { connectionFailureNotRetried } from "./connection-failure-not-retried.js";
import { credentialsStay } from "./credentials-stay.js";
import { defaultRetryBreaker } from "./default-retry-breaker.js";
import { defaultRouteTimeout } from "./default-route-timeout.js";
import { duplicateCluster } from "./duplicate-cluster.js";
import { duplicateDomain } from "./duplicate-domain.js";
import { duplicateGroupName } from "./duplicate-group-name.js";
import { endlessStream } from "./endless-stream.js";
import { filterAfterModule } from "./filter-after-module.js";
import { fractionAndWeights } from "./fraction-and-weights.js";
import { hashWithoutPolicy } from "./hash-without-policy.js";
import { headerOfFirstAttempt } from "./header-of-first-attempt.js";
import { hedgingStays } from "./hedging-stays.js";
import { idleTimeoutEndsAttempts } from "./idle-timeout-ends-attempts.js";
import { misplacedComposite } from "./misplaced-composite.js";
import { misplacedRouteField } from "./misplaced-route-field.js";
import { moduleFailsClosed } from "./module-fails-closed.js";
import { noPerTryTimeout } from "./no-per-try-timeout.js";
import { noRetriesAdmitted } from "./no-retries-admitted.js";
import { noRetryPolicy } from "./no-retry-policy.js";
import { noSni } from "./no-sni.js";
import { overloadNotRetried } from "./overload-not-retried.js";
import { overrideNeverWritten } from "./override-never-written.js";
import { overrideWrittenLate } from "./override-written-late.js";
import { perTryTimeoutIgnored } from "./per-try-timeout-ignored.js";
import { perTryTimeoutNotRetried } from "./per-try-timeout-not-retried.js";
import { redirectTakesHeaders } from "./redirect-takes-headers.js";
import { retriesBeyondComposite } from "./retries-beyond-composite.js";
import { retriesFarBeyondGroups } from "./retries-far-beyond-groups.js";
import { retriesFewerThanGroups } from "./retries-fewer-than-groups.js";
import { retryBudgetOfChain } from "./retry-budget-of-chain.js";
import { retryOnUnknownCondition } from "./retry-on-unknown-condition.js";
import { retryWithoutRefresh } from "./retry-without-refresh.js";
import { smallBufferFilter } from "./small-buffer-filter.js";
import { smallRetryBuffer } from "./small-retry-buffer.js";
import { statusCodesWithoutCondition } from "./status-codes-without-condition.js";
import { timeoutCutsStream } from "./timeout-cuts-stream.js";
import { unknownCluster } from "./unknown-cluster.js";
import { unreachableRoute } from "./unreachable-route.js";
import { virtualHostPolicyHidden } from "./virtual-host-policy-hidden.js";
import { wasmFileMissing } from "./wasm-file-missing.js";
import { weightNeverWins } from "./weight-never-wins.js";

export const CHECKS: readonly Check[] = [
  noRetryPolicy,
  retryWithoutRefresh,
  retryOnUnknownCondition,
  statusCodesWithoutCondition,
  conditionWithoutStatusCodes,
  overloadNotRetried,
  connectionFailureNotRetried,
  retriesFewerThanGroups,
  retriesBeyondComposite,
  retriesFarBeyondGroups,
  virtualHostPolicyHidden,
  misplacedRouteField,
  defaultRetryBreaker,
  retryBudgetOfChain,
  noRetriesAdmitted,
  breakerOfLaterCluster,
  defaultRouteTimeout,
  attemptsExceedTimeout,
  idleTimeoutEndsAttempts,
  perTryTimeoutIgnored,
  noPerTryTimeout,
  perTryTimeoutNotRetried,
  timeoutCutsStream,
  endlessStream,
  smallRetryBuffer,
  smallBufferFilter,
  credentialsStay,
  authorityOfOtherProvider,
  noSni,
  certificateNotChecked,
  headerOfFirstAttempt,
  hedgingStays,
  redirectTakesHeaders,
  clientClaimsInternal,
  clientSentAttemptCount,
  overrideNeverWritten,
  overrideWrittenLate,
  filterAfterModule,
  moduleFailsClosed,
  unknownCluster,
  clusterWithoutEndpoints,
  duplicateCluster,
  duplicateDomain,
  duplicateGroupName,
  weightNeverWins,
  unreachableRoute,
  fractionAndWeights,
  hashWithoutPolicy,
  adminMissing,
  wasmFileMissing,
  misplacedComposite,
];
