import { AuditType } from "../specifiers/audit";
import { DropRouteType } from "../specifiers/drop-route";
import { RouteOverrideType } from "../specifiers/route-override";
import { RouteTemplateType } from "../specifiers/route-template";
import { SpecifierType } from "../specifiers/specifier";

const types: Array<SpecifierType> = [
  new RouteOverrideType(),
  new RouteTemplateType(),
  new DropRouteType(),
  new AuditType(),
];

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
  let names = types[0].name;
  for (let i = 1; i < types.length; i++) names += ", " + types[i].name;
  return names;
}
