import { availableParallelism, cpus, loadavg, release } from "node:os";

/** What figures in seconds depend on. */
export function describeMachine(): { processor: string; processors: number; kernel: string; loadAverage: number[] } {
  const processor = cpus()[0]?.model ?? "unknown";
  return { processor, processors: availableParallelism(), kernel: release(), loadAverage: loadavg() };
}
