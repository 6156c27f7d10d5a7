import { Candidates } from "../decide/candidates";
import { RouteSpecifier } from "../route/specifier";
import { Fields } from "./fields";

/** Where a specifier is configured. */
export enum Level {
  ROUTE_CONFIGURATION,
  VIRTUAL_HOST,
  ROUTE,
}

/** What a specifier may know about its place in the configuration. */
@final
export class SpecifierContext {
  /** The name that it was configured with. */
  name: string = "";
  level: Level = Level.ROUTE_CONFIGURATION;

  constructor(readonly candidates: Candidates) {}
}

/** A type of specifiers, registered in `registry.ts`. */
export abstract class SpecifierType {
  /** @param name full name of the message that configures it, as in `type.googleapis.com/<name>` */
  constructor(readonly name: string) {}

  /**
   * Makes a specifier from the fields of its `typed_config`. Every field must be asked for; what is wrong is noted in the
   * problem of `fields`, and the result then means nothing. `when` and `final` are read before.
   */
  abstract read(fields: Fields, context: SpecifierContext): RouteSpecifier;
}

const types: Array<SpecifierType> = [];

/** Makes a type of specifiers known; once per type, when the module starts. */
export function registerSpecifier(type: SpecifierType): void {
  types.push(type);
}

/** The type of that full name, or null. */
export function specifierType(name: string): SpecifierType | null {
  for (let i = 0; i < types.length; i++) {
    if (types[i].name == name) return types[i];
  }
  return null;
}

/** Every known type's name, for error messages. */
export function specifierTypeNames(): string {
  let names = "";
  for (let i = 0; i < types.length; i++) names += (i > 0 ? ", " : "") + types[i].name;
  return names;
}
