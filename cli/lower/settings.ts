import type { Finding } from "../findings.js";
import { sha256 } from "../sha256.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import type { SlotForm } from "./types.js";

/** How a route is lowered. */
export interface RouteForm {
  form: SlotForm;
  /** Whether it gets a copy that keeps the request on it when the route is resolved anew. */
  pin: boolean;
  /** Upstream filters may write the metadata of an override, so every attempt reads it anew. */
  rereads: boolean;
}

export interface ClusterWeight {
  cluster_name: string;
  weight: number | string;
}

export interface PriorityGroup {
  name: string;
  clusters: ClusterWeight[];
}

/** RouteSettings of settings.proto in its JSON form. Holds what the user wrote: only the module says if it is right. */
export type RouteSettings = { [key: string]: Json };

/** 128 bits: nobody finds other settings with the digits of given ones. */
export const DIGITS = 32;
const SUFFIX = /@ar-[0-9a-f]{32}$/;

/** Any message in snake_case JSON form, without null fields; both spellings of one field are a finding. */
export function messageJson(cursor: Cursor, findings: Finding[]): Json {
  if (cursor.seq !== undefined) return cursor.items().map((item) => messageJson(item, findings));
  if (cursor.map === undefined) return cursor.json();
  const message: { [key: string]: Json } = {};
  for (const { key, value } of cursor.entries()) {
    const json = messageJson(value, findings);
    if (key === "@type" || json === null) continue;
    const name = snakeCase(key);
    if (name in message) findings.push(value.finding(`expected the field ${name} once, found it in both spellings`));
    message[name] = name === "weight" ? weightJson(json) : json;
  }
  return message;
}

/**
 * A weight in the one form that all its spellings share, so that equal settings hash equally: a number up to int32,
 * past it a decimal string, which is what Envoy's YAML loader makes of such a number inside a Struct.
 */
function weightJson(json: Json): Json {
  if (typeof json !== "string" || !/^[0-9.eE+-]+$/.test(json)) return json;
  const value = Number(json);
  if (json === "" || !Number.isSafeInteger(value) || value < 0) return json;
  return value < 2 ** 31 ? value : String(value);
}

/** The settings of a route with this chain. `own` are those the user wrote into the route's metadata. */
export function routeSettings(
  chain: { [key: string]: Json },
  { form, pin, rereads }: RouteForm,
  slots: number,
  own: { [key: string]: Json },
): RouteSettings {
  const settings: RouteSettings = { ...own, ...chain };
  if (form !== "SLOT_PER_ATTEMPT") settings["slot_form"] = form;
  settings["slots"] = slots;
  if (pin) settings["pin"] = true;
  if (rereads) settings["read_metadata_per_attempt"] = true;
  return settings;
}

/**
 * `<name>@ar-<32 hex digits>`: the same digits mean the same settings, whatever file or update they come from. The
 * module keeps what it read by the digits, the name of a pinned route included, so there they stand for the name too;
 * `use` tells apart the routes of a virtual host that share name and settings (0 for the first).
 */
export function routeName(original: string | undefined, settings: RouteSettings, use = 0): string {
  const name = originalName(original ?? "");
  const content: Json = settings["pin"] === true ? { name, settings, use } : settings;
  return `${name}@ar-${sha256(canonicalJson(content)).slice(0, DIGITS)}`;
}

/** Whether a name is one that lowering gives, but not to these settings. */
export function isForeignName(name: string, settings: Json | undefined): boolean {
  if (!SUFFIX.test(name)) return false;
  if (!isMessage(settings)) return true;
  const uses = settings["pin"] === true ? MAX_USES : 1;
  return !Array.from({ length: uses }, (_, use) => use).some((use) => routeName(name, settings, use) === name);
}

/** Routes of one virtual host that share name and settings. */
const MAX_USES = 100;

/** What a route was called before it was lowered; the name itself where it was not. */
export function originalName(name: string): string {
  return name.replace(SUFFIX, "");
}

/** JSON with sorted keys and no spaces. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(",")}}`;
}

/**
 * The groups of well-formed settings; whatever is not a group with clusters is left out. A cluster of the route's own
 * is a group of its own.
 */
export function groupsOf(settings: RouteSettings): PriorityGroup[] {
  const cluster = settings["cluster"];
  if (typeof cluster === "string") return [{ name: "", clusters: [{ cluster_name: cluster, weight: 1 }] }];
  const specifier = settings["priority_group"];
  const groups = isMessage(specifier) ? specifier["priority_groups"] : undefined;
  if (!Array.isArray(groups)) return [];
  return groups.filter(isMessage).map((group) => ({
    name: typeof group["name"] === "string" ? group["name"] : "",
    clusters: clusterWeights(group["clusters"]),
  }));
}

function clusterWeights(clusters: Json | undefined): ClusterWeight[] {
  if (!Array.isArray(clusters)) return [];
  return clusters.filter(isMessage).map((cluster) => ({
    cluster_name: typeof cluster["cluster_name"] === "string" ? cluster["cluster_name"] : "",
    weight: typeof cluster["weight"] === "number" || typeof cluster["weight"] === "string" ? cluster["weight"] : 0,
  }));
}

export function isMessage(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
