import { lower as lowerText, type Lowered, type LowerOptions, type LowerReport } from "./lower.js";
import { lowerTree } from "./lower/lower.js";
import { MODULE_FILES } from "./module-path.js";
import type { Warning } from "./findings.js";
import { checkingModule } from "./lower/checking-module.js";
import { moduleValidator, type SettingsValidator } from "./lower/module-check.js";
import { ObjectTree } from "./yaml/object-tree.js";
import type { ObjectEditor } from "./yaml/object-edit.js";
import type { Json } from "./yaml/scalar.js";

/** A bootstrap, or a resource with its `@type`, in protobuf's JSON form. */
export type ConfigObject = { [key: string]: Json };

export interface LoweredObjects<T> {
  /**
   * The lowered objects, in the order of the input, with added ones at the end. What did not change is the object that was
   * given; the input itself is never changed. Treat them as read-only, since they may share parts.
   */
  objects: T;
  warnings: Warning[];
  /** Which form each route got, and why no cheaper one. */
  readonly report: LowerReport;
}

/**
 * Lowers again and again, with the same options: keeps the compiled module, and which settings it has accepted. It is for
 * one thread; there is nothing to close.
 */
export class Lowerer {
  private readonly options: LowerOptions;

  constructor(options: LowerOptions = {}) {
    this.options = {
      ...options,
      validator:
        options.validator ?? onDemand(() => moduleValidator(checkingModule(options, MODULE_FILES), MODULE_FILES)),
    };
  }

  /** As {@link lower} of a text. */
  lower(text: string): Lowered;
  /** As {@link lower} of objects. */
  lower<T extends ConfigObject | readonly ConfigObject[]>(objects: T): LoweredObjects<T>;
  lower(input: string | ConfigObject | readonly ConfigObject[]): Lowered | LoweredObjects<unknown> {
    return typeof input === "string" ? lowerText(input, this.options) : lowerObjects(input, this.options);
  }
}

/** `attempt-router lower` for a text; see {@link lowerText}. */
export function lower(text: string, options?: LowerOptions): Lowered;
/**
 * Native config in, stock config out, as plain objects: one bootstrap or resource, or a list of resources with their
 * `@type`, which are Listeners, RouteConfigurations, Clusters and any others.
 *
 * @throws InputError with every finding: paths such as `resources[0].virtual_hosts[1]`, and 0 as line and column.
 * @throws MissingModuleError, UnusableModuleError as for a text.
 */
export function lower<T extends ConfigObject | readonly ConfigObject[]>(
  objects: T,
  options?: LowerOptions,
): LoweredObjects<T>;
export function lower(
  input: string | ConfigObject | readonly ConfigObject[],
  options: LowerOptions = {},
): Lowered | LoweredObjects<unknown> {
  return typeof input === "string" ? lowerText(input, options) : lowerObjects(input, options);
}

function lowerObjects(
  input: ConfigObject | readonly ConfigObject[],
  options: LowerOptions,
): LoweredObjects<ConfigObject | readonly ConfigObject[]> {
  const isList = Array.isArray(input);
  const tree = new ObjectTree(options.file ?? "", isList ? { resources: input as Json[] } : (input as ConfigObject));
  const lowered = lowerTree(tree, options, MODULE_FILES);
  const value = changedValue(tree, lowered.last) as ConfigObject;
  return {
    objects: isList ? (value["resources"] as ConfigObject[]) : value,
    warnings: lowered.warnings,
    get report() {
      return lowered.report;
    },
  };
}

/** The rounds of objects are objects. */
function changedValue(tree: ObjectTree, last: ReturnType<typeof lowerTree>["last"]): Json {
  return last === undefined ? tree.value : (last.editor as ObjectEditor).apply((last.tree as ObjectTree).root);
}

/** The module is loaded only where there is something to check. */
function onDemand(make: () => SettingsValidator): SettingsValidator {
  let made: SettingsValidator | undefined;
  return (settings) => (made ??= make())(settings);
}
