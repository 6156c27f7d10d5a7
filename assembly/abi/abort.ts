import { proxy_log } from "./imports";
import { decimal } from "../text";

const CRITICAL: u32 = 5;

/** What AssemblyScript calls before it traps (asconfig binds it): the reason goes to the proxy's log. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const text =
    "attempt_router: aborted: " +
    (message != null ? message : "no message") +
    (file != null ? " at " + file + ":" + decimal(line) + ":" + decimal(column) : "");
  const bytes = String.UTF8.encode(text);
  proxy_log(CRITICAL, changetype<usize>(bytes), bytes.byteLength);
  unreachable();
}
