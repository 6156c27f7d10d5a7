// Builds the modules that ours is compared with.

import { copyFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { UnusableInput } from "./figures.js";

const PEERS = fileURLToPath(new URL("peers/", import.meta.url));
const RUST_TARGET = "wasm32-unknown-unknown";
const NO_RUST = `the rows of the Rust peer need Rust with the target ${RUST_TARGET}. Either of:
  rustup target add ${RUST_TARGET}
  apt-get install rustc-web cargo-web rust-web-src lld     (Debian 12: builds the target's standard library, two minutes)
Or choose rows without it, with --row or --without "Rust".`;

/** A command with arguments, and what it finds in its environment. */
interface Build {
  cargo: string;
  args: string[];
  env: Record<string, string>;
}

/** The path of a module that does nothing, built in `directory`. */
export async function buildNoop(directory: string): Promise<string> {
  // Away from the project's own compiler options.
  await copyFile(join(PEERS, "noop.ts"), join(directory, "noop.ts"));
  const options = { cwd: directory, preferLocal: true, localDir: import.meta.dirname };
  await execa("asc", ["noop.ts", "-O3", "--runtime", "stub", "--use", "abort=noop/abort", "-o", "noop.wasm"], options);
  return join(directory, "noop.wasm");
}

/**
 * The path of the Rust peer.
 * @throws UnusableInput that says how to get the compiler's target when it is missing.
 */
export async function buildRust(): Promise<string> {
  const build = (await withTarget()) ?? debianBuild();
  if (build === undefined) throw new UnusableInput(NO_RUST);
  const target = fileURLToPath(new URL("../build/rust-peer", import.meta.url));
  const args = ["build", "--release", "--locked", "--target", RUST_TARGET, "--target-dir", target, ...build.args];
  await execa(build.cargo, args, { cwd: join(PEERS, "rust"), env: build.env, stderr: "inherit" });
  return join(target, RUST_TARGET, "release", "attempt_router_peer.wasm");
}

/** The compiler on the PATH, where it has the target's standard library. */
async function withTarget(): Promise<Build | undefined> {
  const args = ["--print", "target-libdir", "--target", RUST_TARGET];
  const { failed, stdout } = await execa("rustc", args, { reject: false });
  return !failed && existsSync(stdout.trim()) ? { cargo: "cargo", args: [], env: {} } : undefined;
}

/** Debian's compiler, which has no library for the target, but the source of one. */
function debianBuild(): Build | undefined {
  const [cargo, rustc] = ["/usr/bin/cargo", "/usr/bin/rustc"] as const;
  const source = "/usr/lib/rustlib/src/rust/library/std";
  if (![cargo, rustc, source, "/usr/bin/wasm-ld"].every((path) => existsSync(path))) return undefined;
  // The flag -Zbuild-std is one of unstable compilers.
  const env = { RUSTC: rustc, RUSTC_BOOTSTRAP: "1", CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: "wasm-ld" };
  return { cargo, args: ["-Zbuild-std=std,panic_abort"], env };
}
