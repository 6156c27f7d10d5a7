// The router's walk through the attempts of one request, once the picks are known.

import type { ClusterFacts } from "./clusters.js";
import { answerName, type Answer, type Answers } from "./request.js";
import { wouldRetry, type RetryRules } from "./retry-rules.js";

/** Where attempt n is led; asked once for each attempt, in order. */
export interface Picks {
  cluster(attempt: number): string;
  /** Tells how an attempt ended, `elapsed` ms after the request began. Whether the module says that no attempt follows. */
  answered?(attempt: number, answer: Answer, elapsed: number): boolean;
  /** Where steps led the attempt: the number of the group, from 1 on; undefined: to that of its count. */
  group?(attempt: number): number | undefined;
}

export interface WalkInput {
  readonly picks: Picks;
  readonly rules: RetryRules;
  readonly clusters: ClusterFacts;
  readonly answers: Answers;
  readonly priority: "DEFAULT" | "HIGH";
  /** Status where the cluster of attempt 1 does not exist. */
  readonly notFoundStatus: number;
  /** The clusters behind a pick, see `Destination`. */
  readonly behind: (attempt: number, picked: string) => readonly string[];
  /** What is to be said of an answer after which its cluster is left out; empty for others. */
  readonly coolDownNote: (answer: Answer, cluster: string) => string;
}

/** One attempt as it went. */
export interface WalkedAttempt {
  readonly attempt: number;
  /** The cluster that was picked: a composite one where that is what the route or group names. */
  readonly picked: string;
  /** The number of its group where that is not the attempt's. */
  readonly group: number | undefined;
  /** The cluster that the attempt went to; undefined where it went nowhere. */
  readonly cluster: string | undefined;
  /** Clusters without a host that were passed over. */
  readonly skipped: readonly string[];
  /** `no cluster`, `no host`, `overflow`, or what the upstream answered. */
  readonly answer: number | string;
  readonly next: "retry" | "end";
  readonly because: string;
}

export interface Walk {
  readonly attempts: readonly WalkedAttempt[];
  readonly result: { readonly status: number | null; readonly cluster: string | null; readonly because: string };
}

/** More than this many attempts are not looked at: `num_retries` has no bound. */
const MAX_ATTEMPTS = 1000;

/** Walks until an attempt ends the request. */
export function walk(input: WalkInput): Walk {
  return new Walker(input).run();
}

interface End {
  status: number | null;
  cluster: string | null;
  because: string;
}

class Walker {
  private readonly attempts: WalkedAttempt[] = [];
  private elapsed = 0;
  private first = "";
  private stays = false;

  constructor(private readonly input: WalkInput) {}

  run(): Walk {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const end = this.step(attempt);
      if (end !== undefined) return { attempts: this.attempts, result: end };
    }
    const because = `${MAX_ATTEMPTS} attempts are as many as are looked at`;
    return { attempts: this.attempts, result: { status: null, cluster: null, because } };
  }

  /** How the request ends with this attempt; undefined where another one follows. */
  private step(attempt: number): End | undefined {
    const { clusters, rules, priority } = this.input;
    const picked = this.pick(attempt);
    const { cluster, skipped } = this.resolve(picked, attempt);
    const group = this.input.picks.group?.(attempt);
    const place = { attempt, picked, group, cluster, skipped };
    if (!clusters.exists(picked)) return this.unknownCluster(attempt, place);
    if (cluster === undefined || !clusters.hasHost(cluster)) return this.noHost(place);
    if (clusters.limits(cluster, priority).requests === 0) {
      const because = `a circuit breaker of cluster ${cluster} lets no request pass, which is not retried`;
      return this.end(place, "overflow", because, { status: 503, cluster: null });
    }
    const answer = this.input.answers.next(cluster);
    const timedOut = answer.kind === "timeout" ? this.waitFor(rules) : undefined;
    if (timedOut === "all") {
      const because =
        rules.timeout === 0 ? NEVER : `the route's time-out of ${rules.timeout} ms for all attempts is over`;
      return this.end(place, "timeout", because, { status: rules.timeout === 0 ? null : 504, cluster: null });
    }
    return this.judge(attempt, { ...place, cluster }, answer);
  }

  private resolve(picked: string, attempt: number): { cluster: string | undefined; skipped: readonly string[] } {
    const { clusters, behind } = this.input;
    const list = [picked, ...behind(attempt, picked)];
    const index = list.findIndex((name) => clusters.hasHost(name));
    if (list.length === 1 || index < 0) return clusters.resolve(picked, attempt);
    return { cluster: list[index], skipped: list.slice(0, index) };
  }

  private judge(attempt: number, place: Place & { cluster: string }, answer: Answer): End | undefined {
    const { clusters, rules, priority } = this.input;
    const hedged = answer.kind === "timeout" && rules.hedges;
    const stops = this.input.picks.answered?.(attempt, answer, this.elapsed) === true;
    const usual = hedged ? HEDGE : wouldRetry(answer, rules);
    const judged = stops && usual.retries ? STOPPED : usual;
    const verdict = { ...judged, because: `${judged.because}${this.input.coolDownNote(answer, place.cluster)}` };
    const failed = { status: statusOf(answer), cluster: answer.kind === "response" ? place.cluster : null };
    const name = answerName(answer);
    if (!verdict.retries) return this.end(place, name, verdict.because, failed);
    if (attempt > rules.retries) {
      const because = `${verdict.because}, but the ${rules.retries} retries of num_retries are used up`;
      if (hedged) return this.end(place, name, because, { status: rules.timeout === 0 ? null : 504, cluster: null });
      return this.end(place, name, because, failed);
    }
    if (clusters.limits(this.first, priority).retries === 0) {
      const because = `${verdict.because}, but the retry breaker of cluster ${this.first} admits none`;
      return this.end(place, name, because, failed);
    }
    this.stays = hedged;
    this.attempts.push({ ...place, answer: name, next: "retry", because: verdict.because });
    return undefined;
  }

  private pick(attempt: number): string {
    const { picks, rules, clusters } = this.input;
    const picked = picks.cluster(attempt);
    if (attempt === 1) this.first = picked;
    // A composite cluster walks by itself: the router need not ask for the route's cluster again.
    const stays =
      attempt > 1 && (!rules.refreshes || (this.stays && clusters.get(this.first)?.composite === undefined));
    return stays ? this.first : picked;
  }

  private waitFor({ perTryTimeout, timeout }: RetryRules): "try" | "all" {
    if (perTryTimeout === 0 || (timeout !== 0 && this.elapsed + perTryTimeout >= timeout)) return "all";
    this.elapsed += perTryTimeout;
    return "try";
  }

  private unknownCluster(attempt: number, place: Place): End {
    const name = JSON.stringify(place.picked);
    if (attempt > 1) {
      const because = `there is no cluster ${name}: the request ends, retries that are left are not used`;
      return this.end({ ...place, cluster: undefined }, "no cluster", because, { status: 503, cluster: null });
    }
    const status = this.input.notFoundStatus;
    return this.end({ ...place, cluster: undefined }, "no cluster", `there is no cluster ${name}`, {
      status,
      cluster: null,
    });
  }

  private noHost(place: Place): End {
    const { cluster, picked } = place;
    const what =
      cluster === undefined
        ? `no cluster of the composite cluster ${picked} is left that has a host`
        : `cluster ${cluster} has no healthy host`;
    const because = `${what}: the request ends, retries that are left are not used`;
    return this.end({ ...place, cluster: undefined }, "no host", because, { status: 503, cluster: null });
  }

  private end(place: Place, answer: number | string, because: string, end: Omit<End, "because">): End {
    this.attempts.push({ ...place, answer, next: "end", because });
    return { ...end, because };
  }
}

interface Place {
  attempt: number;
  picked: string;
  group: number | undefined;
  cluster: string | undefined;
  skipped: readonly string[];
}

const HEDGE = { retries: true, because: "hedge_on_per_try_timeout sends another request beside the slow one" };
const STOPPED = { retries: false, because: "steps or min_attempt_time say that no attempt follows this answer" };
const NEVER = "nothing ends the wait: the route has no time-out, and no per_try_timeout";

function statusOf(answer: Answer): number {
  if (answer.kind === "response") return answer.status;
  return answer.kind === "timeout" ? 504 : 503;
}
