import { WasmHost } from "../host/index.js";
import { readModule, UnusableModuleError, type ModuleFiles } from "../modules.js";
import type { Json } from "../yaml/scalar.js";
import { METADATA_NAMESPACE } from "./types.js";
import { canonicalJson, DIGITS, isMessage, type RouteSettings } from "./settings.js";

/** What the module says is wrong with a route's settings. */
export interface SettingsError {
  /** Relative to RouteSettings, like `priority_group.priority_groups[1].clusters[0].weight`. */
  path: string;
  expected: string;
  found: string;
}

/** Runs the module's own parser over the settings of a route; none means that the module takes them. */
export type SettingsValidator = (settings: RouteSettings) => SettingsError[];

/** No real file has so many; it bounds the work on one that is no settings at all. */
const MAX_ERRORS = 100;
const ERROR_LINE = /settings of route "[^]*?": (\S+|\(top level\)): expected ([^]*), found ([^]*)$/;

/**
 * The validator that runs the built module, which names the first error of some settings. So that a user sees all of
 * them at once, each place it names gets a stand-in that it has no complaint about, and the rest is looked at again.
 *
 * Errors of another module than the built one name it.
 *
 * @throws MissingModuleError where the built module is not there, UnusableModuleError for another that cannot check
 */
export function moduleValidator(wasmPath: string, files: ModuleFiles): SettingsValidator {
  const own = wasmPath === files.main;
  const host = own ? WasmHost.load(readModule(files, wasmPath)) : loadNamed(wasmPath, files);
  const judge = own ? "" : ` (checked by ${wasmPath})`;
  let runs = 0;
  const firstError = (settings: RouteSettings): SettingsError | undefined => {
    runs += 1;
    return askModule(host, `settings@ar-${runs.toString(16).padStart(DIGITS, "0")}`, settings);
  };
  const known = new Map<string, SettingsError[]>();
  return (settings) => {
    const key = canonicalJson(settings);
    const errors =
      known.get(key) ?? allErrors(settings, firstError).map((error) => ({ ...error, found: `${error.found}${judge}` }));
    known.set(key, errors);
    return errors;
  };
}

function loadNamed(path: string, files: ModuleFiles): WasmHost {
  if (!files.exists(path)) throw new UnusableModuleError(path, "no file");
  try {
    return WasmHost.load(files.read(path));
  } catch (error) {
    const [reason = ""] = String(error instanceof Error ? error.message : error).split("\n");
    throw new UnusableModuleError(path, `another file: ${reason}`);
  }
}

type Ask = (settings: RouteSettings) => SettingsError | undefined;

function allErrors(settings: RouteSettings, firstError: Ask): SettingsError[] {
  const errors: SettingsError[] = [];
  let rest: RouteSettings | undefined = settings;
  while (rest !== undefined && errors.length < MAX_ERRORS) {
    const error = firstError(rest);
    if (error === undefined) break;
    errors.push(error);
    rest = withStandIn(rest, error.path, firstError);
  }
  return errors;
}

/** The module keeps what it read under a route's name, so each run takes a name of its own. */
function askModule(host: WasmHost, routeName: string, settings: RouteSettings): SettingsError | undefined {
  const routeMetadata = { filter_metadata: { [METADATA_NAMESPACE]: settings } };
  const request = host.request({ routeName, routeMetadata });
  request.end();
  const line = request.logs.find(({ message }) => message.includes("settings of route"))?.message;
  if (line === undefined) return undefined;
  const [, path, expected, found] = ERROR_LINE.exec(line) ?? [];
  if (path === undefined || expected === undefined || found === undefined) throw new Error(`unknown message: ${line}`);
  return { path: path === "(top level)" ? "" : path, expected, found };
}

/** Values of every shape that settings have. Which one fits is not known here: the module is asked. */
const CLUSTER: Json = { cluster_name: "c", weight: 1 };
const SPECIFIER: Json = { "@type": "type.googleapis.com/attempt_router.v1.DropRoute" };
const STAND_INS: (Json | undefined)[] = [
  undefined,
  "text",
  "1s",
  1,
  CLUSTER,
  [CLUSTER],
  { name: "g", clusters: [CLUSTER] },
  [{ name: "g", clusters: [CLUSTER] }],
  { priority_groups: [{ name: "g", clusters: [CLUSTER] }] },
  { cookie: { name: "c" } },
  SPECIFIER,
  { name: "s", typed_config: SPECIFIER },
];

/**
 * The settings with something in the place of `path`, or else of what holds it, that is no error there; undefined where
 * nothing is found.
 */
function withStandIn(settings: RouteSettings, path: string, firstError: Ask): RouteSettings | undefined {
  for (let steps = pathSteps(path); steps.length > 0; steps = steps.slice(0, -1)) {
    let second: RouteSettings | undefined;
    for (const value of STAND_INS) {
      const candidate = replaceAt(structuredClone(settings), steps, value);
      if (candidate === undefined) continue;
      const next = firstError(candidate);
      const at = pathSteps(next?.path ?? "");
      if (next !== undefined && startsWith(at, steps)) continue;
      // What holds the place may miss what stood there: then something of another shape is better.
      if (next === undefined || !startsWith(steps, at)) return candidate;
      second ??= candidate;
    }
    if (second !== undefined) return second;
  }
  return undefined;
}

function startsWith(path: (string | number)[], steps: (string | number)[]): boolean {
  return steps.every((step, index) => path[index] === step);
}

function replaceAt(
  root: RouteSettings,
  steps: (string | number)[],
  value: Json | undefined,
): RouteSettings | undefined {
  const last = steps.at(-1);
  const holder = steps.slice(0, -1).reduce<Json | undefined>(child, root);
  if (Array.isArray(holder) && typeof last === "number") {
    if (value === undefined) return undefined;
    holder[last] = value;
    return root;
  }
  if (!isMessage(holder) || typeof last !== "string") return undefined;
  if (value === undefined) Reflect.deleteProperty(holder, last);
  else holder[last] = value;
  return root;
}

function child(parent: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(parent)) return typeof step === "number" ? parent[step] : undefined;
  return isMessage(parent) && typeof step === "string" ? parent[step] : undefined;
}

/** `a.b[1].c` → `["a", "b", 1, "c"]`. */
export function pathSteps(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map((match) =>
    match[1] === undefined ? (match[2] as string) : Number(match[1]),
  );
}
