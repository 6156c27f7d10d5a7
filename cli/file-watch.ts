// Files that are read again when they change.

import { watch, type FSWatcher } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** An editor writes a file in several steps. */
const SETTLED_MS = 50;

/**
 * Remembers what was read. A folder is watched before a file in it is read, so that no change is missed; and what counts is
 * that the text is another one, so that a file beside it wakes nobody.
 */
export class FileWatch {
  private readonly texts = new Map<string, string | undefined>();
  private readonly watchers = new Map<string, FSWatcher>();
  private wake = (): void => undefined;

  /** @param readFile reads a file; rejects where it cannot */
  constructor(private readonly readFile: (path: string) => Promise<string>) {}

  async read(path: string): Promise<string> {
    this.watch(dirname(path));
    // The target of a link may change as well.
    await realpath(path).then(
      (real) => this.watch(dirname(real)),
      () => undefined,
    );
    this.texts.set(path, undefined);
    const text = await this.readFile(path);
    this.texts.set(path, text);
    return text;
  }

  /** Forgets what was read: the next run may need other files. */
  begin(): void {
    this.texts.clear();
  }

  /** Resolves to true once one of the files has another text, comes or goes; to false where `stop` is aborted. */
  async changed(stop: AbortSignal): Promise<boolean> {
    const ended = (): void => this.wake();
    stop.addEventListener("abort", ended);
    try {
      while (!stop.aborted) {
        const woken = new Promise<void>((resolve) => (this.wake = resolve));
        if (await this.differs()) return true;
        await woken;
      }
      return false;
    } finally {
      stop.removeEventListener("abort", ended);
    }
  }

  close(): void {
    for (const watcher of this.watchers.values()) watcher.close();
  }

  /** Whether a text is another one, and stays so for a moment. */
  private async differs(): Promise<boolean> {
    for (const [path, text] of this.texts) {
      const found = await this.found(path);
      if (found === text) continue;
      await sleep(SETTLED_MS);
      return (await this.found(path)) === found || this.differs();
    }
    return false;
  }

  private found(path: string): Promise<string | undefined> {
    return this.readFile(path).catch(() => undefined);
  }

  private watch(folder: string): void {
    if (this.watchers.has(folder)) return;
    try {
      const watcher = watch(folder, () => this.wake());
      watcher.on("error", () => undefined);
      this.watchers.set(folder, watcher);
    } catch {
      // The folder is not there: reading the file says so.
    }
  }
}
