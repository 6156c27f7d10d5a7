import type { Finding } from "../../findings.js";
import { sha256 } from "../../sha256.js";
import type { Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { canonicalJson, isMessage } from "../settings.js";
import { EMPTY_STATUS, PRESETS } from "./presets.js";

/** `hold_response` as the module reads it: without presets. */
export type HoldSettings = { [key: string]: Json };

const LISTS = ["not_content", "errors"] as const;

/**
 * The settings of a `hold_response`, the presets written out behind what the user wrote, which is looked at first. What is wrong
 * with presets is a finding; of the rest only the module says if it is right.
 */
export function holdSettings(setting: Cursor, findings: Finding[]): HoldSettings {
  const written = setting.json();
  if (!isMessage(written)) {
    findings.push(setting.finding(`expected an object, found ${JSON.stringify(written)}`));
    return {};
  }
  const own = Object.fromEntries(Object.entries(written).filter(([key]) => key !== "presets"));
  const names = presetNames(setting, findings);
  if (names.length === 0) return own;
  const settings: HoldSettings = { ...own, empty: own["empty"] ?? EMPTY_STATUS };
  const firstBytes = own["until"] === "FIRST_BYTES";
  for (const list of LISTS) {
    if (list === "not_content" && firstBytes) continue;
    const before = own[list] ?? [];
    // What is no list is left to the module, which says so.
    if (Array.isArray(before)) settings[list] = [...before, ...rulesOf(names, list)];
  }
  return settings;
}

/** Each once: presets share some. */
function rulesOf(names: string[], list: (typeof LISTS)[number]): Json[] {
  const rules = names.flatMap((name) => PRESETS[name]?.[list] ?? []);
  return [...new Map(rules.map((rule) => [canonicalJson(rule), rule])).values()];
}

function presetNames(setting: Cursor, findings: Finding[]): string[] {
  const presets = setting.field("presets");
  if (presets === undefined) return [];
  if (presets.seq === undefined) findings.push(presets.finding("expected a list of presets, found something else"));
  const known = Object.keys(PRESETS).join(", ");
  return presets.items().flatMap((item) => {
    const name = item.string();
    if (name !== undefined && Object.hasOwn(PRESETS, name)) return [name];
    findings.push(item.finding(`expected one of the presets ${known}, found ${JSON.stringify(item.json())}`));
    return [];
  });
}

/** Digest of settings: the same digits mean the same settings. */
export function holdDigest(settings: HoldSettings): string {
  return sha256(canonicalJson(settings)).slice(0, 16);
}
