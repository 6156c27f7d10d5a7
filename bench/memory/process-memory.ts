// The memory of a process from outside, as the kernel has it. Linux only.

import { readFileSync } from "node:fs";

/** In bytes. */
export interface ProcessMemory {
  /** Resident, the pages of the binary included. */
  rss: number;
  /** Resident and nobody else's: heaps, stacks, compiled code. */
  own: number;
  /** The linear memory of each WebAssembly instance, smallest first. */
  linear: number[];
}

// V8 reserves this much address space for each linear memory, so that no access can leave it.
const RESERVED = 8 * 2 ** 30;
// No instance of ours comes near.
const LARGEST = 2 ** 30;

export function readProcessMemory(pid: number): ProcessMemory {
  const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
  return { ...parseRollup(read("smaps_rollup")), linear: linearMemories(read("maps")) };
}

/** @param text the content of smaps_rollup */
export function parseRollup(text: string): { rss: number; own: number } {
  return { rss: field(text, "Rss"), own: field(text, "Anonymous") };
}

/**
 * The sizes in bytes, ascending: what is left of each reservation that begins with pages in use.
 * @param text the content of maps
 */
export function linearMemories(text: string): number[] {
  const mappings = [...text.matchAll(/^([0-9a-f]+)-([0-9a-f]+) (\S+)/gm)];
  const reserved = mappings.filter(([, , , permissions]) => permissions?.startsWith("---"));
  const sizes = reserved.map(([, start = "", end = ""]) => RESERVED - (parseInt(end, 16) - parseInt(start, 16)));
  return sizes.filter((size) => size >= 0 && size <= LARGEST).sort((a, b) => a - b);
}

function field(text: string, name: string): number {
  const kilobytes = new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(text)?.[1];
  if (kilobytes === undefined) throw new Error(`no ${name} in smaps_rollup`);
  return Number(kilobytes) * 1024;
}
