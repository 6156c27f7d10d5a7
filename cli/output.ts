import { randomBytes } from "node:crypto";
import { constants, fstatSync, write as writeFd, type Stats } from "node:fs";
import { lstat, open, readlink, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { constants as systemConstants } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
/** As many as Linux follows. */
const MAX_LINKS = 40;
/** A descriptor of this process: what stands behind it is written as it stands, not opened again. */
const DESCRIPTOR = /^\/(?:dev|proc\/self|proc\/thread-self)\/fd\/(\d+)$/;

/** Where output goes: a path that is no symbolic link, or a descriptor of this process. */
export type Target = { path: string } | { descriptor: number };

/** Follows the links of `output`, also where the last one leads nowhere yet. @throws a system error. */
export async function targetOf(output: string): Promise<Target> {
  let path = resolve(output);
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const descriptor = DESCRIPTOR.exec(path)?.[1];
    if (descriptor !== undefined) return { descriptor: Number(descriptor) };
    // The system may forbid to follow a link that stands in a folder for everyone.
    await unlessMissing(stat(path));
    const link = await readlink(path).catch(() => undefined);
    if (link === undefined) return { path: trailing(output, path, links) };
    path = resolve(dirname(path), link);
  }
  throw systemError("ELOOP");
}

/** Writes all of `content` to a path that is no symbolic link. @throws a system error; a file is then as it was. */
export async function writeTo(path: string, content: string): Promise<void> {
  const stats = await unlessMissing(lstat(path));
  if (stats?.isDirectory() === true) throw systemError("EISDIR");
  if (stats === undefined || stats.isFile()) await replaceFile(path, stats, content);
  else await writeInto(path, content);
}

/** Writes all of `content` to an open descriptor, which stays open. @throws a system error. */
export async function writeToDescriptor(descriptor: number, content: string): Promise<void> {
  fstatSync(descriptor);
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += (await promisify(writeFd)(descriptor, bytes, at)).bytesWritten;
    } catch (error) {
      // Whoever opened it may have asked not to wait.
      if (codeOf(error) !== "EAGAIN") throw error;
      await sleep(5);
    }
  }
}

/** A slash at the end asks for a folder. */
function trailing(output: string, path: string, links: number): string {
  return links === 0 && output.endsWith("/") ? `${path}/` : path;
}

/** The new content stands complete beside the file before it takes the file's place, mode and owner. */
async function replaceFile(path: string, stats: Stats | undefined, content: string): Promise<void> {
  // The folder's owner could replace a file that may not be written.
  if (stats !== undefined) await (await open(path, O_WRONLY | O_NOFOLLOW)).close();
  // Another name of the file must have the new content, too.
  if (stats !== undefined && stats.nlink > 1) return writeInto(path, content);
  const temporary = join(dirname(path), `.${randomBytes(12).toString("hex")}.tmp`);
  try {
    await writeNew(temporary, stats, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    // The folder takes no new file, the owner cannot be given, or the file is a mount: it is still written as it stands.
    if (stats === undefined || !["EACCES", "EPERM", "EROFS", "EBUSY"].includes(codeOf(error))) throw error;
    await writeInto(path, content);
  }
}

async function writeNew(path: string, stats: Stats | undefined, content: string): Promise<void> {
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, stats === undefined ? 0o666 : 0o600);
  try {
    await handle.writeFile(content);
    if (stats !== undefined) await takeOver(handle, stats);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function takeOver(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid);
  await handle.chmod(mode & 0o7777);
}

async function writeInto(path: string, content: string): Promise<void> {
  const handle = await open(path, O_WRONLY | O_NOFOLLOW);
  try {
    await handle.writeFile(content);
    if ((await handle.stat()).isFile()) await handle.truncate(Buffer.byteLength(content));
  } finally {
    await handle.close();
  }
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function systemError(code: "EISDIR" | "ELOOP"): Error {
  return Object.assign(new Error(code), { code, errno: -systemConstants.errno[code] });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
