// The text that the admin interface answers to `/clusters`: lines `NAME::KEY::VALUE` for a cluster and
// `NAME::ADDRESS::KEY::VALUE` for each of its hosts.

import { Bytes, View, encode } from "../bytes";

const SEPARATOR = encode("::");
const HEALTHY = encode("::health_flags::healthy");
const DEGRADED = encode("::health_flags::/degraded");
const NEWLINE: u8 = 0x0a;

/** Steps through the lines. The text is read in place. */
@final
export class AdminClusters {
  private line: View = new View();
  private position: i32 = 0;

  constructor(private text: View) {}

  next(): bool {
    const text = this.text;
    if (this.position >= text.length) return false;
    let end = this.position;
    while (end < text.length && text.at(end) != NEWLINE) end++;
    this.line.set(text.ptr + <usize>this.position, end - this.position);
    this.position = end + 1;
    return true;
  }

  /** Whether the line is about the cluster of that name. */
  isAbout(name: Bytes): bool {
    return this.line.startsWith(name) && hasAt(this.line, name.length, SEPARATOR);
  }

  /** Whether the line says that a host may be used. */
  isUsable(): bool {
    const line = this.line;
    if (hasAt(line, line.length - HEALTHY.length, HEALTHY)) return true;
    for (let i = 0; i + DEGRADED.length <= line.length; i++) {
      if (hasAt(line, i, DEGRADED)) return true;
    }
    return false;
  }
}

function hasAt(text: View, index: i32, part: Bytes): bool {
  if (index < 0 || index + part.length > text.length) return false;
  return memory.compare(text.ptr + <usize>index, changetype<usize>(part), part.length) == 0;
}
