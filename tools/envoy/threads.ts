import { readdirSync, readFileSync } from "node:fs";
import type { EnvoyProcess } from "./process.js";

const NS_PER_MS = 1e6;

/** Milliseconds of CPU that each thread of an Envoy has used so far, by the thread's name. Linux only. */
export function cpuByThread(envoy: EnvoyProcess): Map<string, number> {
  const pid = envoyPid(envoy);
  const result = new Map<string, number>();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const name = readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8").trim();
    const [running] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ");
    result.set(name, Number(running) / NS_PER_MS);
  }
  return result;
}

/** The process id of Envoy itself, which is the child of the shell that supervises it. Linux only. */
export function envoyPid({ child }: EnvoyProcess): number {
  const shell = child.pid ?? 0;
  const children = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ").map(Number);
  const found = children.find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("envoy"));
  if (found === undefined) throw new Error("no Envoy runs");
  return found;
}
