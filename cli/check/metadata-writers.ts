import type { ConnectionManager, Filter } from "../model/index.js";

/** Filters that write no metadata which they were not told to. */
const SILENT = ["router", "cors", "fault", "buffer", "health_check", "compressor", "attempt_router", "csrf", "gzip"];

/** The filters that may write dynamic metadata. */
export function metadataWriters(managers: readonly ConnectionManager[]): Filter[] {
  const filters = managers.flatMap((manager) => manager.chain?.filters ?? []);
  return filters.filter(({ name, type }) => !SILENT.some((word) => `${name} ${type ?? ""}`.includes(word)));
}
