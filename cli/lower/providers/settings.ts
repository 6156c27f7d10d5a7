// The settings `provider` of a cluster: what its attempts carry, read and checked.

import type { Finding } from "../../findings.js";
import { snakeCase, type Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { ATTEMPT_COUNT_HEADER, METADATA_NAMESPACE } from "../types.js";

/** What the attempts on one cluster carry. Header names are in lower case. */
export interface Provider {
  host: string | undefined;
  /** Begins with a slash and does not end with one. */
  pathPrefix: string | undefined;
  /** Values are Envoy's format strings. */
  set: { key: string; value: string }[];
  remove: string[];
  credential: Credential | undefined;
}

/** A key that Envoy reads by itself: from a secret (SdsSecretConfig), or from a file. */
export interface Credential {
  header: string;
  prefix: string;
  secret: { [key: string]: Json } | undefined;
  file: string | undefined;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HOST = /^[0-9A-Za-z._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;
const PATH_PREFIX = /^(\/[0-9A-Za-z._~!$&()*+,;=:@%-]+)+$/;

/** The place of the settings in a cluster; undefined where it has none. */
export function providerOf(cluster: Cursor): Cursor | undefined {
  return ownMetadata(cluster)?.field("provider");
}

/** The provider of a cluster; wrong parts are left out, each with a finding, which never shows a value that may be a key. */
export function readProvider(cluster: Cursor, findings: Finding[]): Provider | undefined {
  const own = ownMetadata(cluster);
  const settings = own?.field("provider");
  if (own === undefined) return undefined;
  onlyFields(own, ["provider"], findings);
  if (settings === undefined) return undefined;
  onlyFields(settings, ["host", "path_prefix", "request_headers", "credential"], findings);
  const headers = settings.field("request_headers");
  if (headers !== undefined) onlyFields(headers, ["set", "remove"], findings);
  const provider: Provider = {
    host: text(settings.field("host"), HOST, "a host name, with a port or without", findings),
    pathPrefix: text(
      settings.field("path_prefix"),
      PATH_PREFIX,
      "a path that begins with a slash and does not end with one",
      findings,
    ),
    set: itemsOf(headers?.field("set"), findings).flatMap((item) => headerValue(item, findings)),
    remove: itemsOf(headers?.field("remove"), findings).flatMap((item) => headerName(item, findings) ?? []),
    credential: readCredential(settings.field("credential"), findings),
  };
  findings.push(...repeatedHeaders(settings, provider));
  return provider;
}

/** The headers that a provider writes: they are its own, and no other may see them. */
export function headersWritten({ set, credential }: Provider): string[] {
  return [...set.map(({ key }) => key), ...(credential === undefined ? [] : [credential.header])];
}

/** Name of the static secret with the key of a cluster. */
export function secretName(cluster: string): string {
  return `attempt_router_provider_${cluster}`;
}

function ownMetadata(cluster: Cursor): Cursor | undefined {
  return cluster.at("metadata", "filter_metadata", METADATA_NAMESPACE);
}

function onlyFields(message: Cursor, names: readonly string[], findings: Finding[]): void {
  if (message.map === undefined) {
    findings.push(message.finding(`expected an object with ${names.join(", ")}, found something else`));
    return;
  }
  for (const { key, value } of message.entries()) {
    if (names.includes(snakeCase(key))) continue;
    findings.push(value.finding(`expected one of ${names.join(", ")}, found an unknown field`));
  }
}

function text(field: Cursor | undefined, form: RegExp, expected: string, findings: Finding[]): string | undefined {
  if (field === undefined) return undefined;
  const value = field.string();
  if (value !== undefined && form.test(value)) return value;
  findings.push(field.finding(`expected ${expected}, found ${JSON.stringify(field.json())}`));
  return undefined;
}

function itemsOf(list: Cursor | undefined, findings: Finding[]): Cursor[] {
  if (list !== undefined && list.seq === undefined)
    findings.push(list.finding("expected a list, found something else"));
  return list?.items() ?? [];
}

function headerValue(item: Cursor, findings: Finding[]): { key: string; value: string }[] {
  onlyFields(item, ["header"], findings);
  const header = item.field("header");
  if (header === undefined) {
    findings.push(item.findingBelow(["header"], "expected a header with key and value, found none"));
    return [];
  }
  onlyFields(header, ["key", "value"], findings);
  const key = header.field("key");
  const name = key === undefined ? undefined : headerName(key, findings);
  if (key === undefined) findings.push(header.findingBelow(["key"], "expected the name of a header, found none"));
  const value = textValue(header.field("value"));
  if (value === undefined) findings.push(header.findingBelow(["value"], "expected a text of one line, found none"));
  return name === undefined || value === undefined ? [] : [{ key: name, value }];
}

/** A number is a text here, as in Envoy's own fields. */
function textValue(field: Cursor | undefined): string | undefined {
  const value = field?.json();
  const isScalar = typeof value === "string" || typeof value === "number";
  return isScalar && value !== "" && !/[\x00-\x1f\x7f]/.test(String(value)) ? String(value) : undefined;
}

function headerName(field: Cursor, findings: Finding[]): string | undefined {
  const name = text(field, TOKEN, "the name of a header", findings)?.toLowerCase();
  if (name !== "host") return name;
  findings.push(field.finding("expected the setting host of the provider, found the header host"));
  return undefined;
}

function readCredential(field: Cursor | undefined, findings: Finding[]): Credential | undefined {
  if (field === undefined) return undefined;
  onlyFields(field, ["header", "prefix", "secret", "file"], findings);
  const header = field.field("header");
  const prefix = field.field("prefix");
  const secret = readSecret(field.field("secret"), findings);
  const file = field.field("file");
  if ((field.field("secret") === undefined) === (file === undefined)) {
    findings.push(field.finding(`expected one of secret and file, found ${file === undefined ? "none" : "both"}`));
  }
  if (file !== undefined && textValue(file) === undefined)
    findings.push(file.finding("expected the path of a file that holds the key, found none"));
  const name = header === undefined ? "authorization" : headerName(header, findings);
  if (header !== undefined && name === ATTEMPT_COUNT_HEADER)
    findings.push(header.finding(`expected a header for the key, found ${ATTEMPT_COUNT_HEADER}`));
  if (prefix !== undefined && textValue(prefix) === undefined)
    findings.push(prefix.finding("expected a text of one line, found something else"));
  if (name === undefined) return undefined;
  return { header: name, prefix: textValue(prefix) ?? "", secret, file: textValue(file) };
}

function readSecret(field: Cursor | undefined, findings: Finding[]): Credential["secret"] {
  if (field === undefined) return undefined;
  onlyFields(field, ["name", "sds_config"], findings);
  const name = textValue(field.field("name"));
  if (name === undefined) findings.push(field.findingBelow(["name"], "expected the name of a secret, found none"));
  const sds = field.field("sds_config")?.json();
  return name === undefined ? undefined : { name, ...(sds === undefined ? {} : { sds_config: sds }) };
}

function repeatedHeaders(settings: Cursor, provider: Provider): Finding[] {
  const names = [...headersWritten(provider), ...provider.remove];
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) < index));
  return [...repeated].map((name) => settings.finding(`expected each header once, found ${name} more than once`));
}
