import { readdirSync, readFileSync } from "node:fs";
import type { EnvoyProcess } from "../../tools/envoy/process.js";

const MS_PER_JIFFY = 10;

/** Milliseconds of CPU that each thread of an Envoy has used so far, by the thread's name. Linux only. */
export function cpuByThread(envoy: EnvoyProcess): Map<string, number> {
  const pid = envoyPid(envoy.child.pid ?? 0);
  const result = new Map<string, number>();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    result.set(name, (Number(fields[11]) + Number(fields[12])) * MS_PER_JIFFY);
  }
  return result;
}

/** Envoy is the child of the shell that supervises it. */
function envoyPid(shell: number): number {
  const children = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ").map(Number);
  const found = children.find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("envoy"));
  if (found === undefined) throw new Error("no Envoy runs");
  return found;
}
