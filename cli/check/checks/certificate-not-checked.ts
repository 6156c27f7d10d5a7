import type { Cluster, JsonMessage } from "../../model/index.js";
import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const certificateNotChecked: Check = {
  code: "certificate-not-checked",
  severity: "warning",
  title: "TLS to a provider whose certificate is not checked",
  why: "Envoy checks a certificate only where a validation_context says against what, and the name in it only where that is asked for: whoever answers at the address gets the request and its key",
  find(context) {
    return context.fallbacks.flatMap((route) =>
      context.clustersOf(route).flatMap((cluster) => {
        const lack = lackOf(cluster);
        if (lack === undefined) return [];
        const [what, fix] = lack;
        return [{ at: cluster.tls ?? cluster, message: `cluster ${quoted(cluster.name?.value ?? "")} ${what}`, fix }];
      }),
    );
  },
};

/** What checks the whole certificate by itself. */
const PINS = ["verify_certificate_hash", "verify_certificate_spki", "custom_validator_config"];
const AUTHORITIES = ["trusted_ca", "system_root_certs", "ca_certificate_provider_instance"];
const NAMES = ["match_typed_subject_alt_names", "match_subject_alt_names"];

/** What a cluster accepts, and the fix. */
function lackOf({ tls, protocolOptions, providerHost }: Cluster): [string, string] | undefined {
  if (tls === undefined) return undefined;
  const options = messageOf(tls.json);
  const common = messageOf(options["common_tls_context"]);
  // What comes by SDS is not in the file.
  if (Object.keys(common).some((field) => /^(combined_)?validation_context_|^combined/.test(field))) return undefined;
  const validation = messageOf(common["validation_context"]);
  if (has(validation, PINS)) return undefined;
  if (!has(validation, AUTHORITIES)) return ["accepts every certificate", "write validation_context: {trusted_ca: …}"];
  const byName = options["auto_sni_san_validation"] === true || protocolOptions?.autoSanValidation === true;
  if (byName || providerHost !== undefined || has(validation, NAMES)) return undefined;
  return [
    "accepts a certificate for any name",
    "write auto_sni_san_validation: true, or match_typed_subject_alt_names",
  ];
}

function has(message: JsonMessage, fields: readonly string[]): boolean {
  return fields.some((field) => message[field] !== undefined);
}
