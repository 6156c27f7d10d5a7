// What a provider needs beside filters: the name that its certificate has, and the secret that holds its key.

import type { Finding } from "../../findings.js";
import type { Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import type { Resources } from "../../read/resources.js";
import { changeItems } from "../lists.js";
import { HTTP_PROTOCOL_OPTIONS, TYPE } from "../types.js";
import { providerOf, secretName, type Provider } from "./settings.js";
import type { Output } from "./upstream-filters.js";

/** Envoy chooses the connection before upstream filters run, so the authority that they write cannot name the server. */
export function writeServerName(cluster: Cursor, host: string, { editor, findings, warnings }: Output): void {
  findings.push(...autoServerNames(cluster));
  const tls = cluster.at("transport_socket", "typed_config");
  if (tls?.type() !== TYPE.upstreamTls || tls.map === undefined) return;
  const named = ["sni", "auto_host_sni"].some((name) => tls.field(name) !== undefined);
  if (!named) editor.set(tls.map, "sni", hostName(host));
  const validation = validationOf(tls);
  if (validation?.field("trusted_ca") === undefined) {
    warnings.push(tls.finding("nothing verifies the provider's certificate: the validation_context has no trusted_ca"));
    return;
  }
  const verified = ["match_typed_subject_alt_names", "match_subject_alt_names"].some(
    (name) => validation.field(name) !== undefined,
  );
  if (!verified && tls.field("auto_sni_san_validation") === undefined)
    editor.set(tls.map, "auto_sni_san_validation", true);
}

/** What takes the server's name from the authority that the client sent. */
export function autoServerNames(cluster: Cursor): Finding[] {
  const options = cluster.at(
    "typed_extension_protocol_options",
    HTTP_PROTOCOL_OPTIONS,
    "upstream_http_protocol_options",
  );
  return ["auto_sni", "auto_san_validation"].flatMap((name) => {
    const field = options?.field(name);
    return field?.bool() === true ? [field.finding(NO_AUTO_SNI.replace("%", name))] : [];
  });
}

const NO_AUTO_SNI =
  "expected no % beside the provider's host, found it: it takes the authority that the client sent, and lower writes sni";

function validationOf(tls: Cursor): Cursor | undefined {
  const common = tls.field("common_tls_context");
  return common?.field("validation_context") ?? common?.at("combined_validation_context", "default_validation_context");
}

/** Without the port, and an IPv6 address without its brackets. */
function hostName(host: string): string {
  return host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}

/** Adds a static secret for each key that is in a file of its own. */
export function writeSecrets(
  root: Cursor,
  resources: Resources,
  clusters: readonly { name: string; cluster: Cursor; provider: Provider | undefined }[],
  { editor, findings }: Output,
): void {
  const holder = root.field("static_resources");
  const present = new Set(holder?.list("secrets").map((secret) => secret.field("name")?.string()));
  const added: Json[] = [];
  for (const { name, cluster, provider } of clusters) {
    const filename = provider?.credential?.file;
    if (filename === undefined || present.has(secretName(name))) continue;
    if (resources.kind === "bootstrap")
      added.push({ name: secretName(name), generic_secret: { secret: { filename } } });
    else findings.push((providerOf(cluster)?.at("credential", "file") ?? cluster).finding(NEEDS_BOOTSTRAP));
  }
  if (holder !== undefined && added.length > 0) changeItems(holder, "secrets", new Set(), added, editor, "clusters");
}

const NEEDS_BOOTSTRAP =
  "expected a secret with sds_config, found a file: only the bootstrap, which is not in this file, can hold its secret";
