import { Bytes, View, sameBytes } from "../bytes";
import { HeaderName } from "../decide/request-view";
import { Host } from "../host/host";

/** How a header is read. */
export enum Reading {
  /** All of its lines, joined with ",". */
  JOINED,
  FIRST_LINE,
}

@final
class KnownHeader {
  reading: Reading = Reading.JOINED;
  found: bool = false;
  value: View = new View();

  constructor(public key: Bytes) {}
}

/**
 * Headers of the request that is decided now, each read from the proxy once: conditions of several specifiers often look
 * at the same one. Reused: it grows to the most headers that a request has been asked for.
 */
@final
export class KnownHeaders {
  private headers: Array<KnownHeader> = [];
  private count: i32 = 0;

  /** Lends the value of a header until `clear`; false where the request has none. */
  read(host: Host, name: HeaderName, reading: Reading, out: View): bool {
    const header = this.find(host, name, reading);
    out.set(header.value.ptr, header.value.length);
    return header.found;
  }

  /** Hands back what was read. */
  clear(host: Host): void {
    for (let i = 0; i < this.count; i++) {
      const header = this.headers[i];
      if (header.found) host.release(header.value);
    }
    this.count = 0;
  }

  private find(host: Host, name: HeaderName, reading: Reading): KnownHeader {
    const key = name.name;
    for (let i = 0; i < this.count; i++) {
      const header = this.headers[i];
      if (header.reading == reading && sameBytes(header.key, key)) return header;
    }
    const header = this.add(key);
    header.reading = reading;
    header.value.set(0, 0);
    if (reading == Reading.JOINED) header.found = host.property(name.attribute, header.value);
    else header.found = host.requestHeader(key, header.value);
    return header;
  }

  private add(key: Bytes): KnownHeader {
    const headers = this.headers;
    if (this.count == headers.length) headers.push(new KnownHeader(key));
    const header = headers[this.count++];
    header.key = key;
    return header;
  }
}
