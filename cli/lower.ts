import { existsSync } from "node:fs";
import { LineCounter } from "yaml";
import { InputError, type Finding, type Warning } from "./findings.js";
import { mayListRoutes, nameLoweredRoutes } from "./lower/allow-lists.js";
import { usesAttemptCount } from "./lower/client-headers.js";
import { holdFindings } from "./lower/hold/check.js";
import { planHold } from "./lower/hold/plan.js";
import { isAboutComposites, settingsFinding } from "./lower/map-errors.js";
import { moduleValidator, type SettingsValidator } from "./lower/module-check.js";
import type { FailurePolicy, ModuleSource, PlanOptions } from "./lower/options.js";
import { planFile, type Plan } from "./lower/plan.js";
import { reportOf, type LowerReport } from "./lower/report.js";
import { chainFinding } from "./lower/specifiers/map-errors.js";
import { planProviders } from "./lower/providers/plan.js";
import { planSpecifiers, type SpecifierPlan } from "./lower/specifiers/plan.js";
import { builtModulePath, requireModule } from "./module-path.js";
import { writeOutAliases, writeOutMerges } from "./yaml/aliases.js";
import { Cursor } from "./yaml/cursor.js";
import type { Editor } from "./yaml/edit.js";
import { parseDocuments } from "./yaml/parse.js";
import { Source } from "./yaml/source.js";

export { InputError, type Finding, type Warning } from "./findings.js";
export type { FailurePolicy } from "./lower/options.js";
export type { LowerReport } from "./lower/report.js";

const BYTE_ORDER_MARK = "\ufeff";

export interface LowerOptions {
  /** The name of the input in findings. Default `<input>`. */
  file?: string;
  /** What the output names as the module's file. Default: the absolute path of the built module. */
  wasm?: string;
  /** Fetch the module instead; `cluster` names an existing cluster, else one is added. `sha256` is hex. */
  wasmRemote?: { url: string; sha256: string; cluster?: string };
  /** False: no route may rely on x-envoy-attempt-count being sent upstream. Default true. */
  attemptHeader?: boolean;
  /** Default FAIL_OPEN. */
  failurePolicy?: FailurePolicy;
  /** Also wire connection managers whose routes come from RDS or SRDS. Default false. */
  rds?: boolean;
  /** Where that is the same, write a weighted chain as one route for each share of the requests, without the module. Default false. */
  splitWeights?: boolean;
  /** Name of the HTTP filter before which the module goes. Default: right before the router. */
  placeBefore?: string;
  /** The module's file on this machine, to check settings with. Default: `wasm` if there is a file, else the built one. */
  checkWasm?: string;
  /** The check of a route's settings. Default: that of the module at `checkWasm`. */
  validator?: SettingsValidator;
}

export interface Lowered {
  /** The whole output file; the input unchanged where there was nothing to lower. */
  text: string;
  warnings: Warning[];
  /** Which form each route got, and why no cheaper one. */
  readonly report: LowerReport;
}

/**
 * Native config in, stock config out, as YAML or JSON text: a bootstrap, one RouteConfiguration, Listener or Cluster, or
 * a DiscoveryResponse (`resources: [...]`), of one type as a discovery service sends it or of several that go together.
 * @throws InputError with every finding.
 * @throws MissingModuleError where the built module is needed, to check settings or to be named, and is not there.
 * @throws UnusableModuleError where another module is to check settings and cannot.
 */
export function lower(text: string, options: LowerOptions = {}): Lowered {
  // A byte order mark is no part of the first line, before which something may be written.
  if (text.startsWith(BYTE_ORDER_MARK)) {
    const lowered = lower(text.slice(BYTE_ORDER_MARK.length), options);
    return { ...lowered, text: BYTE_ORDER_MARK + lowered.text };
  }
  const source = Source.parse(options.file ?? "<input>", text);
  const planOptions = toPlanOptions(options, Cursor.root(source));
  const specifiers = planSpecifiers(source, planOptions);
  const plan = planFile(source, planOptions, specifiers.known);
  const hold = planHold(source, planOptions);
  const providers = planProviders(source);
  const findings = [
    ...[...plan.findings, ...specifiers.findings, ...settingsFindings(plan, specifiers, options)],
    ...[...hold.findings, ...holdFindings(hold), ...providers.findings],
  ];
  if (findings.length > 0) throw new InputError(findings);
  if (plan.usesModule && options.wasm === undefined && options.wasmRemote === undefined) {
    requireModule(builtModulePath());
  }
  const output = writeProviders(source, plan, planOptions);
  return {
    text: output === source.text ? output : withLoweredNames(source, output),
    warnings: [...plan.warnings, ...providers.warnings],
    get report() {
      return reportOf(plan.report, hold.upstream);
    },
  };
}

/** Once all routes have their names, what looks them up by name can follow. */
function withLoweredNames(source: Source, text: string): string {
  if (!mayListRoutes(text)) return text;
  const named = nameLoweredRoutes(Source.parse(source.file, text));
  return named === undefined ? text : checked(source.file, named);
}

/** The module that the output names, where this machine has it, may know specifiers that the built one does not. */
function checkingModule({ checkWasm, wasm }: LowerOptions): string {
  if (checkWasm !== undefined) return checkWasm;
  return wasm !== undefined && existsSync(wasm) ? wasm : builtModulePath();
}

function settingsFindings(plan: Plan, { chains }: SpecifierPlan, options: LowerOptions): Finding[] {
  const all = [...plan.routes, ...plan.unusedSpecifiers];
  if (all.length + chains.length === 0) return [];
  const validate = options.validator ?? moduleValidator(checkingModule(options));
  return [
    ...all.flatMap((planned) =>
      validate(planned.settings)
        // What is wrong with a composite cluster was found where it is defined; the settings only repeat it.
        .filter((error) => plan.findings.length === 0 || !isAboutComposites(planned, error))
        .map((error) => settingsFinding(planned, error)),
    ),
    ...chains.flatMap((chain) => validate(chain.settings).map((error) => chainFinding(chain, error))),
  ];
}

/** Clusters first: what else is written depends on the filters that they then have. */
function writeProviders(source: Source, plan: Plan, options: PlanOptions): string {
  const { editor } = planProviders(source);
  if (editor.isEmpty) return write(source, plan, options);
  const rewritten = writtenOut(source, editor);
  const next = parseRound(source, rewritten ?? editor);
  const nextPlan = planFile(next, options);
  return rewritten === undefined ? write(next, nextPlan, options) : writeProviders(next, nextPlan, options);
}

/**
 * Writes the file in rounds: merge keys and aliases that stand in the way of a change, then filters that hold answers,
 * then route specifiers, whose routes may have priority groups, then these.
 */
function write(source: Source, plan: Plan, options: PlanOptions): string {
  const hold = planHold(source, options);
  if (!hold.editor.isEmpty) {
    const next = parseRound(source, writtenOut(source, hold.editor) ?? hold.editor);
    return write(next, planFile(next, options), options);
  }
  const specifiers = planSpecifiers(source, options);
  if (specifiers.editor.isEmpty) return writeGroups(source, plan, options);
  const next = parseRound(source, writtenOut(source, specifiers.editor) ?? specifiers.editor);
  return write(next, planFile(next, options), options);
}

/** Plans again after each round of writing out, since a written-out copy is a place of its own. */
function writeGroups(source: Source, plan: Plan, options: PlanOptions): string {
  if (plan.editor.isEmpty) return source.text;
  const editor = writtenOut(source, plan.editor);
  if (editor === undefined) return checked(source.file, plan.editor.apply());
  const next = parseRound(source, editor);
  return writeGroups(next, planFile(next, options), options);
}

function writtenOut(source: Source, planned: Editor): Editor | undefined {
  return writeOutMerges(source) ?? writeOutAliases(source, planned);
}

/** What is found in the next round is reported where it comes from. */
function parseRound(source: Source, editor: Editor): Source {
  const origin = editor.origin();
  const text = editor.apply();
  try {
    return Source.parse(source.file, text, (offset) => source.placeOf(origin(offset)));
  } catch (error) {
    throw error instanceof InputError ? invalid(source.file, error.message) : error;
  }
}

/** The output must be YAML: what is not is a defect of the editor, never something to write. */
function checked(file: string, text: string): string {
  const error = parseDocuments(text, new LineCounter()).flatMap((document) => document.errors)[0];
  if (error !== undefined) throw invalid(file, error.message);
  return text;
}

function invalid(file: string, message: string): Error {
  return new Error(`lowering ${file} would give invalid YAML: ${message}`);
}

function toPlanOptions(options: LowerOptions, root: Cursor): PlanOptions {
  return {
    module: moduleSource(options),
    attemptHeader: options.attemptHeader ?? true,
    failurePolicy: options.failurePolicy ?? "FAIL_OPEN",
    rds: options.rds ?? false,
    splitWeights: options.splitWeights ?? false,
    placeBefore: options.placeBefore,
    removesAttemptCount: !usesAttemptCount(root),
  };
}

function moduleSource(options: LowerOptions): ModuleSource {
  const remote = options.wasmRemote;
  if (remote === undefined) return { kind: "local", filename: options.wasm ?? builtModulePath() };
  const cluster = remote.cluster ?? "attempt_router_module";
  return { kind: "remote", uri: remote.url, sha256: remote.sha256, cluster, addCluster: remote.cluster === undefined };
}
