import { existsSync, readFileSync } from "node:fs";

/** The package's version, `MAJOR.MINOR.PATCH`; package.json is its only place. */
export const version = packageVersion();

function packageVersion(): string {
  // Seen from build/cli (the built command), else from cli (the sources).
  const candidates = ["../../package.json", "../package.json"].map((relative) => new URL(relative, import.meta.url));
  for (const url of candidates.filter((candidate) => existsSync(candidate))) {
    const { name, version } = JSON.parse(readFileSync(url, "utf8")) as { name?: string; version: string };
    if (name === "attempt-router") return version;
  }
  throw new Error("the package.json of attempt-router is missing");
}
