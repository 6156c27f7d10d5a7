// `-o FILE` writes what FILE is, completely or not at all, and says in one line why it cannot.
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { execa, type Options } from "execa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../../tools/wait.js";
import { COMMAND, run } from "./support.js";

const TEXT = "admin: {}\n";
const OWNER = 12345;
const isRoot = process.getuid?.() === 0;

let folder: string;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "attempt-router-output-"));
  output = join(folder, "out.yaml");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function write(to = output, text = TEXT): Promise<void> {
  expect((await run(["lower", "-", "-o", to], text)).code).toBe(0);
}

/** Exit code and standard error of a run that cannot write. */
async function refused(to: string): Promise<[number, string]> {
  const { code, stderr } = await run(["lower", "-", "-o", to], TEXT);
  return [code, stderr];
}

function line(file: string, reason: string): [number, string] {
  return [1, `${file}:1:1: (file): expected a file that can be written, found ${reason}\n`];
}

/** Runs the command as a process. */
function command(args: string[], options: Options = {}) {
  return execa(process.execPath, [...COMMAND, "lower", "-", ...args], {
    input: TEXT,
    reject: false,
    stripFinalNewline: false,
    ...options,
  } as const);
}

describe("a file", () => {
  test("that is new has the mode of a new file, also where its name is as long as a name can be", async () => {
    const long = join(folder, "n".repeat(255));
    await write(long);
    writeFileSync(output, "");
    expect([readFileSync(long, "utf8"), statSync(long).mode]).toEqual([TEXT, statSync(output).mode]);
    expect(readdirSync(folder).sort()).toEqual([basename(long), "out.yaml"].sort());
  });

  test.each([0o600, 0o640, 0o755, 0o4711])("that exists keeps its mode %o", async (mode) => {
    writeFileSync(output, "old");
    chmodSync(output, mode);
    await write();
    expect([readFileSync(output, "utf8"), statSync(output).mode & 0o7777]).toEqual([TEXT, mode]);
  });

  test.runIf(isRoot)("that exists keeps its owner", async () => {
    writeFileSync(output, "old");
    chownSync(output, OWNER, OWNER + 1);
    await write();
    expect(statSync(output)).toMatchObject({ uid: OWNER, gid: OWNER + 1 });
  });

  test("is replaced as a whole: who reads the old one reads all of it, and nothing else is left", async () => {
    writeFileSync(output, "old content");
    const reader = openSync(output, "r");
    await write();
    expect([readFileSync(reader, "utf8"), readFileSync(output, "utf8")]).toEqual(["old content", TEXT]);
    closeSync(reader);
    expect(readdirSync(folder)).toEqual(["out.yaml"]);
  });

  test("with another name has the new content under both", async () => {
    const other = join(folder, "other.yaml");
    writeFileSync(output, "old content that is longer than the new one");
    linkSync(output, other);
    await write();
    expect([readFileSync(output, "utf8"), readFileSync(other, "utf8")]).toEqual([TEXT, TEXT]);
    expect(statSync(output).ino).toBe(statSync(other).ino);
  });

  test("is written under a temporary name that nobody can foresee", async () => {
    const victim = join(folder, "victim");
    writeFileSync(victim, "kept");
    symlinkSync(victim, join(folder, `.out.yaml.${process.pid}.tmp`));
    const names = new Set<string>();
    const watcher = watch(folder, (_, name) => names.add(String(name)));
    await write();
    await write();
    const temporary = (): string[] => [...names].filter((name) => /^\.[0-9a-f]{24}\.tmp$/.test(name));
    await waitFor("two temporary names", () => temporary().length === 2);
    watcher.close();
    expect(readFileSync(victim, "utf8")).toBe("kept");
  });

  test("that does not fit stays as it was, and nothing else is left", async () => {
    writeFileSync(output, "old");
    const input = join(folder, "large.yaml");
    writeFileSync(input, TEXT + "# a comment\n".repeat(10_000));
    // Files of 1 KB at most; the signal for a larger one would end the process.
    const limited = 'trap "" XFSZ; ulimit -f 1; exec "$0" "$@"';
    const args = ["-c", limited, process.execPath, ...COMMAND, "lower", input, "-o", output];
    const { exitCode, stderr } = await execa("bash", args, { reject: false });
    expect([exitCode, `${stderr}\n`]).toEqual(line(output, "EFBIG: file too large"));
    expect(readFileSync(output, "utf8")).toBe("old");
    expect(readdirSync(folder).sort()).toEqual(["large.yaml", "out.yaml"]);
  });
});

describe("a symbolic link", () => {
  test("stays one, and its target is written in the target's folder", async () => {
    mkdirSync(join(folder, "there"));
    const target = join(folder, "there", "target.yaml");
    writeFileSync(target, "old");
    chmodSync(target, 0o600);
    symlinkSync("there/target.yaml", join(folder, "second"));
    symlinkSync("second", output);
    await write();
    expect([readlinkSync(output), readlinkSync(join(folder, "second"))]).toEqual(["second", "there/target.yaml"]);
    expect([readFileSync(target, "utf8"), statSync(target).mode & 0o7777]).toEqual([TEXT, 0o600]);
    expect(readdirSync(join(folder, "there"))).toEqual(["target.yaml"]);
  });

  test("to nothing yet makes its target", async () => {
    symlinkSync("target.yaml", output);
    await write();
    expect([readlinkSync(output), readFileSync(join(folder, "target.yaml"), "utf8")]).toEqual(["target.yaml", TEXT]);
  });

  test("to itself is refused", async () => {
    symlinkSync("out.yaml", output);
    expect(await refused(output)).toEqual(line(output, "ELOOP: too many symbolic links encountered"));
  });

  test("to a device writes the device as it stands", async () => {
    symlinkSync("/dev/full", output);
    expect(await refused(output)).toEqual(line(output, "ENOSPC: no space left on device"));
    expect([readlinkSync(output), lstatSync("/dev/full").isCharacterDevice()]).toEqual(["/dev/full", true]);
  });
});

test("a named pipe is written as it stands", async () => {
  await execa("mkfifo", [output]);
  const [text] = await Promise.all([readFile(output, "utf8"), write()]);
  expect([text, lstatSync(output).isFIFO()]).toEqual([TEXT, true]);
});

describe("a descriptor of the process", () => {
  test("is written where it stands, behind what is there", async () => {
    writeFileSync(output, "first\n");
    for (const [path, stdio] of [
      ["/dev/stdout", ["pipe", openSync(output, "a"), "pipe"]],
      ["/dev/fd/3", ["pipe", "pipe", "pipe", openSync(output, "a")]],
      ["/proc/self/fd/3", ["pipe", "pipe", "pipe", openSync(output, "a")]],
    ] as const) {
      const { exitCode } = await command(["-o", path], { stdio: [...stdio] } as Options);
      expect([path, exitCode]).toEqual([path, 0]);
    }
    expect(readFileSync(output, "utf8")).toBe(`first\n${TEXT}${TEXT}${TEXT}`);
  });

  test("may be a socket", async () => {
    expect(await command(["-o", "/dev/stdout"])).toMatchObject({ exitCode: 0, stdout: TEXT });
  });

  test("may not be closed", async () => {
    expect(await refused("/dev/fd/999")).toEqual(line("/dev/fd/999", "EBADF: bad file descriptor"));
  });
});

describe("what cannot be written is one line", () => {
  test("a folder", async () => {
    expect(await refused(folder)).toEqual(line(folder, "EISDIR: illegal operation on a directory"));
    expect(await refused(`${output}/`)).toEqual(line(`${output}/`, "ENOTDIR: not a directory"));
  });

  test("a file below a file", async () => {
    writeFileSync(output, "old");
    expect(await refused(join(output, "below"))).toEqual(line(join(output, "below"), "ENOTDIR: not a directory"));
  });

  test("standard output that nobody reads", async () => {
    const child = command([]);
    child.stdout?.destroy();
    const { exitCode, stderr } = await child;
    expect([exitCode, stderr]).toEqual(line("<stdout>", "EPIPE: broken pipe"));
  });

  test.each([["lower", "--help"], ["--version"]])("a full disk: %s %s", async (...args) => {
    const full = openSync("/dev/full", "w");
    const given = args.filter((arg) => typeof arg === "string");
    const options = { reject: false, stdio: ["ignore", full, "pipe"], stripFinalNewline: false } as unknown as Options;
    const { exitCode, stderr } = await execa(process.execPath, [...COMMAND, ...given], options);
    closeSync(full);
    expect([exitCode, stderr]).toEqual(line("<stdout>", "ENOSPC: no space left on device"));
  });
});

describe.runIf(isRoot)("as another user than root", () => {
  beforeEach(() => {
    chownSync(folder, OWNER, OWNER);
    process.seteuid?.(OWNER);
  });
  afterEach(() => process.seteuid?.(0));

  /** Does something as root in between. */
  function asRoot(action: () => void): void {
    process.seteuid?.(0);
    action();
    process.seteuid?.(OWNER);
  }

  test("a file that may not be written stays as it is, although its folder may be", async () => {
    writeFileSync(output, "old");
    chmodSync(output, 0o444);
    expect(await refused(output)).toEqual(line(output, "EACCES: permission denied"));
    expect([readFileSync(output, "utf8"), readdirSync(folder)]).toEqual(["old", ["out.yaml"]]);
  });

  test("a folder that takes no file", async () => {
    chmodSync(folder, 0o555);
    expect(await refused(output)).toEqual(line(output, "EACCES: permission denied"));
  });

  test("a file of somebody else's keeps its owner", async () => {
    asRoot(() => {
      writeFileSync(output, "old content that is longer");
      chmodSync(output, 0o666);
    });
    await write();
    expect([readFileSync(output, "utf8"), statSync(output).uid, readdirSync(folder)]).toEqual([TEXT, 0, ["out.yaml"]]);
  });

  test("a file in a folder that takes no other is written all the same", async () => {
    writeFileSync(output, "old content that is longer");
    chmodSync(folder, 0o555);
    await write();
    expect(readFileSync(output, "utf8")).toBe(TEXT);
  });
});

test("a folder or other bytes than text as the input are one line", async () => {
  writeFileSync(output, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff]));
  const binary = await run(["lower", output]);
  expect([binary.code, binary.stderr]).toEqual([1, `${output}:1:1: (file): expected UTF-8, found other bytes\n`]);
  const found = `${folder}:1:1: (file): expected a readable file, found EISDIR: illegal operation on a directory\n`;
  expect(await run(["lower", folder])).toEqual({ code: 1, stdout: "", stderr: found });
});
