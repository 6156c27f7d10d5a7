// What the files of a folder import from each other, by their import and export statements.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files that each file imports, by path. */
export type Imports = Map<string, string[]>;

/** Imports between the TypeScript files under `folder`, without those under `generated`. Paths begin with `folder`. */
export function importsIn(root: string, folder: string, generated: string): Imports {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`)
    .filter((file) => !file.startsWith(`${generated}/`));
  const known = new Set(files);
  return new Map(files.map((file) => [file, importedBy(file, readFileSync(join(root, file), "utf8"), known)]));
}

function importedBy(file: string, text: string, known: Set<string>): string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom|^import) "(\.[^"]+)"/gm)].map((match) => match[1] ?? "");
  const paths = specifiers.map((specifier) => `${join(dirname(file), specifier).replace(/\.js$/, "")}.ts`);
  return paths.filter((path) => known.has(path));
}

/** The import cycles, each as the files that it leads through; at most one for each file. */
export function cycles(imports: Imports): string[][] {
  const done = new Set<string>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    const start = open.indexOf(file);
    if (start >= 0) found.push([...open.slice(start), file]);
    if (start >= 0 || done.has(file)) return;
    open.push(file);
    for (const imported of imports.get(file) ?? []) visit(imported);
    open.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  return found;
}
