import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { envoyVersions } from "../../tools/envoy/binary.js";
import { expectServes, NATIVE } from "../image/serves.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { versions } = await envoyVersions();

/** An empty folder, then one where the packed package is installed. */
const folder = mkdtempSync(join(tmpdir(), "attempt-router-package-"));
const installed = join(folder, "node_modules", "attempt-router");
let files: string[] = [];

beforeAll(async () => {
  // The build is that of the test run: packing must not replace it under the tests that use it.
  const pack = ["pack", "--ignore-scripts", "--json", ROOT];
  const { stdout } = await execa("npm", pack, { cwd: folder });
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  files = (packed?.files ?? []).map(({ path }) => path);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: "user", private: true, type: "module" })}\n`);
  const options = ["--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"];
  await execa("npm", ["install", ...options, `./${packed?.filename ?? ""}`], { cwd: folder });
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function npx(...args: string[]) {
  return execa("npx", ["--no-install", "attempt-router", ...args], { cwd: folder, reject: false });
}

describe("the packed package", () => {
  test("holds the command, the library with its types, the module and the texts, and nothing else", () => {
    const others = files.filter((path) => !/^build\/cli\/.+\.(js|d\.ts)$/.test(path));
    const texts = ["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md"];
    const modules = ["build/attempt-router-hold.wasm", "build/attempt-router.wasm"];
    const page = ["index.html", "page.css", "page.js"].map((name) => `build/playground/${name}`);
    const messages = "build/cli/serve/envoy-gateway/messages.binpb.gz";
    expect(others.sort()).toEqual([...texts, ...modules, ...page, messages, "package.json"].sort());
  });

  test("serves Envoy Gateway until it is told to stop", async () => {
    const args = ["serve", "--native", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    const server = execa("node", ["node_modules/attempt-router/build/cli/main.js", ...args], { cwd: folder });
    const [line] = (await once(server.stderr, "data")) as [Buffer];
    expect(JSON.parse(line.toString())).toMatchObject({ event: "Started" });
    server.kill("SIGTERM");
    expect((await server).exitCode).toBe(0);
  });

  test("has one version", async () => {
    expect((await npx("--version")).stdout).toBe(packageJson.version);
    const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, "utf8")) as { version: string };
    expect(lock.version).toBe(packageJson.version);
  });

  test("lowers as a function, with types", async () => {
    const use = `import { readFileSync } from "node:fs";
      import { InputError, lower, type Lowered } from "attempt-router";
      const lowered: Lowered = lower(readFileSync(process.argv[2] ?? "", "utf8"));
      // @ts-expect-error the options have types
      const wrong = (): Lowered => lower("", { attemptHeader: "no" });
      try { lower("a: b"); } catch (error) { if (error instanceof InputError) console.error(error.findings[0]?.message); }
      console.log(lowered.text.includes("wasm.attempt_router.1"), wrong.length, import.meta.resolve("attempt-router/attempt-router.wasm"));`;
    writeFileSync(join(folder, "use.ts"), use);
    const types = ["--typeRoots", `${ROOT}node_modules/@types`, "--types", "node"];
    const compiler = ["--strict", "--target", "es2022", "--module", "nodenext", ...types, "use.ts"];
    await execa(`${ROOT}node_modules/.bin/tsc`, compiler, { cwd: folder });
    const { stdout, stderr } = await execa("node", ["use.js", NATIVE], { cwd: folder });
    expect(stdout).toBe(`true 0 file://${installed}/build/attempt-router.wasm`);
    expect(stderr).toMatch(/^expected a bootstrap, .*, found fields a$/);
  });

  test.each(versions)("serves: npx attempt-router lower, then Envoy %s with the packed module", async (version) => {
    const { exitCode } = await npx("lower", NATIVE, "-o", "envoy.yaml");
    expect(exitCode).toBe(0);
    const text = readFileSync(join(folder, "envoy.yaml"), "utf8");
    expect(text).toContain(`filename: ${join(installed, "build/attempt-router.wasm")}`);
    await expectServes(version, text);
  });

  test("says what to do where the module is missing, without a stack trace", async () => {
    const module = join(installed, "build/attempt-router.wasm");
    renameSync(module, `${module}.away`);
    try {
      const { exitCode, stderr, stdout } = await npx("lower", NATIVE);
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^error: expected the built module at .*attempt-router\.wasm, found no file; .*$/);
      // What has nothing to lower needs no module.
      writeFileSync(join(folder, "plain.yaml"), "admin: {}\n");
      expect((await npx("lower", "plain.yaml")).exitCode).toBe(0);
    } finally {
      renameSync(`${module}.away`, module);
    }
  });

  test("leaves nothing in the folder but what npm and the user put there", () => {
    const expected = ["attempt-router-", "envoy.yaml", "node_modules", "package", "plain.yaml", "use."];
    expect(readdirSync(folder).filter((name) => !expected.some((start) => name.startsWith(start)))).toEqual([]);
  });
});
