import { InputError, type Finding, type Warning } from "../findings.js";
import { LIST_TYPE, nameLoweredRoutes } from "./allow-lists.js";
import { checkingModule } from "./checking-module.js";
import { usesAttemptCount } from "./client-headers.js";
import { clustersElsewhere, type CompositesFile } from "./composites-apart.js";
import { holdFindings } from "./hold/check.js";
import { planHold } from "./hold/plan.js";
import { isAboutComposites, settingsFinding } from "./map-errors.js";
import { moduleValidator, type SettingsValidator } from "./module-check.js";
import type { FailurePolicy, ModuleSource, PlanOptions } from "./options.js";
import { planFile, type Plan } from "./plan.js";
import { reportOf, type LowerReport } from "./report.js";
import { chainFinding } from "./specifiers/map-errors.js";
import { planProviders } from "./providers/plan.js";
import { planSpecifiers } from "./specifiers/plan.js";
import type { SpecifierPlan } from "./specifiers/planned.js";
import { planStandIns } from "./stand-ins/plan.js";
import { requireModule, type ModuleFiles } from "../modules.js";
import { Cursor } from "../yaml/cursor.js";
import type { TextEditor } from "../yaml/edit.js";
import { Source } from "../yaml/source.js";
import type { Editor, Tree } from "../yaml/tree.js";

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
  /** The file that defines composite clusters, where it is lowered apart from the routes. */
  composites?: CompositesFile;
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
export function lower(text: string, options: LowerOptions, files: ModuleFiles): Lowered {
  // A byte order mark is no part of the first line, before which something may be written.
  if (text.startsWith(BYTE_ORDER_MARK)) {
    const lowered = lower(text.slice(BYTE_ORDER_MARK.length), options, files);
    return { ...lowered, text: BYTE_ORDER_MARK + lowered.text };
  }
  const source = Source.parse(options.file ?? "<input>", text);
  const lowered = lowerTree(source, options, files);
  return {
    text: writtenText(text, lowered),
    warnings: lowered.warnings,
    get report() {
      return lowered.report;
    },
  };
}

/** The rounds of a text are texts. */
function writtenText(text: string, { last }: LoweredTree): string {
  return last === undefined ? text : (last.tree as Source).write(last.editor as TextEditor);
}

/** What is left to write of a lowered tree: the last round of changes, and what they change; nothing where all stays. */
export interface LoweredTree {
  last: { tree: Tree; editor: Editor } | undefined;
  warnings: Warning[];
  readonly report: LowerReport;
}

/** Lowers a tree, whose findings name their places as the tree does. Throws as {@link lower} does. */
export function lowerTree(tree: Tree, options: LowerOptions, files: ModuleFiles): LoweredTree {
  const planOptions = toPlanOptions(options, Cursor.root(tree), files);
  const specifiers = planSpecifiers(tree, planOptions);
  const plan = planFile(tree, planOptions, specifiers.known);
  const hold = planHold(tree, planOptions);
  const providers = planProviders(tree);
  const standIns = planStandIns(tree);
  const findings = [
    ...[...plan.findings, ...specifiers.findings, ...settingsFindings(plan, specifiers, options, files)],
    ...[...hold.findings, ...holdFindings(hold, files), ...providers.findings, ...standIns.findings],
  ];
  if (findings.length > 0) throw new InputError(findings);
  if (plan.usesModule && options.wasm === undefined && options.wasmRemote === undefined) {
    requireModule(files, files.main);
  }
  const last = writeClusters(tree, plan, planOptions);
  return {
    last: last && withLoweredNames(last),
    warnings: [...plan.warnings, ...providers.warnings, ...standIns.warnings],
    get report() {
      return reportOf(plan.report, hold.upstream, standIns.counts);
    },
  };
}

type Round = NonNullable<LoweredTree["last"]>;

/** Once all routes have their names, what looks them up by name can follow. */
function withLoweredNames(last: Round): Round {
  if (!last.tree.mentions(LIST_TYPE)) return last;
  const tree = last.tree.next(last.editor);
  const editor = nameLoweredRoutes(tree);
  return editor === undefined ? last : { tree, editor };
}

function settingsFindings(plan: Plan, { chains }: SpecifierPlan, options: LowerOptions, files: ModuleFiles): Finding[] {
  const all = [...plan.routes, ...plan.unusedSpecifiers];
  if (all.length + chains.length === 0) return [];
  const validate = options.validator ?? moduleValidator(checkingModule(options, files), files);
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

/** What a round changes in a tree. */
type RoundPlanner = (tree: Tree) => Editor;

/**
 * Writes the file in rounds: clusters that stand in for others first, since these get a provider's filters like any cluster, and
 * what else is written depends on the filters that clusters then have.
 */
function writeClusters(tree: Tree, plan: Plan, options: PlanOptions): Round | undefined {
  const rounds: RoundPlanner[] = [(one) => planStandIns(one).editor, (one) => planProviders(one).editor];
  return writeInTurn(rounds, tree, plan, options);
}

function writeInTurn(
  [round, ...later]: RoundPlanner[],
  tree: Tree,
  plan: Plan,
  options: PlanOptions,
): Round | undefined {
  if (round === undefined) return write(tree, plan, options);
  const editor = round(tree);
  if (editor.isEmpty) return writeInTurn(later, tree, plan, options);
  // A written-out copy is a place of its own, for which the round plans again.
  const rewritten = tree.writtenOut(editor);
  const next = tree.next(rewritten ?? editor);
  const rest = rewritten === undefined ? later : [round, ...later];
  return writeInTurn(rest, next, planFile(next, options), options) ?? { tree: next, editor: next.edit() };
}

/**
 * Writes the rest: merge keys and aliases that stand in the way of a change, then filters that hold answers, then route
 * specifiers, whose routes may have priority groups, then these.
 */
function write(tree: Tree, plan: Plan, options: PlanOptions): Round | undefined {
  const hold = planHold(tree, options);
  if (!hold.editor.isEmpty) return writeNext(tree, hold.editor, options);
  const specifiers = planSpecifiers(tree, options);
  if (specifiers.editor.isEmpty) return writeGroups(tree, plan, options);
  return writeNext(tree, specifiers.editor, options);
}

function writeNext(tree: Tree, editor: Editor, options: PlanOptions): Round {
  const next = tree.next(tree.writtenOut(editor) ?? editor);
  return write(next, planFile(next, options), options) ?? { tree: next, editor: next.edit() };
}

/** Plans again after each round of writing out, since a written-out copy is a place of its own. */
function writeGroups(tree: Tree, plan: Plan, options: PlanOptions): Round | undefined {
  if (plan.editor.isEmpty) return undefined;
  const editor = tree.writtenOut(plan.editor);
  if (editor === undefined) return { tree, editor: plan.editor };
  const next = tree.next(editor);
  return writeGroups(next, planFile(next, options), options) ?? { tree: next, editor: next.edit() };
}

function toPlanOptions(options: LowerOptions, root: Cursor, files: ModuleFiles): PlanOptions {
  return {
    files,
    module: moduleSource(options, files),
    attemptHeader: options.attemptHeader ?? true,
    failurePolicy: options.failurePolicy ?? "FAIL_OPEN",
    rds: options.rds ?? false,
    splitWeights: options.splitWeights ?? false,
    placeBefore: options.placeBefore,
    elsewhere: elsewhereOf(options),
    removesAttemptCount: !usesAttemptCount(root),
  };
}

function elsewhereOf({ composites }: LowerOptions): PlanOptions["elsewhere"] {
  const findings: Finding[] = [];
  const clusters = composites === undefined ? [] : clustersElsewhere(composites, findings);
  if (findings.length > 0) throw new InputError(findings);
  return clusters;
}

function moduleSource(options: LowerOptions, files: ModuleFiles): ModuleSource {
  const remote = options.wasmRemote;
  if (remote === undefined) return { kind: "local", filename: options.wasm ?? files.main };
  const cluster = remote.cluster ?? "attempt_router_module";
  return { kind: "remote", uri: remote.url, sha256: remote.sha256, cluster, addCluster: remote.cluster === undefined };
}
