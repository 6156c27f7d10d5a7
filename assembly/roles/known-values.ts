import { Bytes, View, sameBytes } from "../bytes";
import { Host } from "../host/host";

/** How a value is read: by the path of an attribute, or as the first line of a header by its name. */
export enum Reading {
  ATTRIBUTE,
  FIRST_LINE,
}

@final
class KnownValue {
  reading: Reading = Reading.ATTRIBUTE;
  found: bool = false;
  value: View = new View();

  constructor(public key: Bytes) {}
}

/**
 * Headers and attributes of the request that is decided now, each read from the proxy once: conditions of several
 * specifiers often look at the same one. Reused: it grows to the most values that a request has been asked for.
 */
@final
export class KnownValues {
  private values: Array<KnownValue> = [];
  private count: i32 = 0;

  /** Lends a value until `clear`; false where the request has none. */
  read(host: Host, key: Bytes, reading: Reading, out: View): bool {
    const known = this.find(host, key, reading);
    out.set(known.value.ptr, known.value.length);
    return known.found;
  }

  /** Hands back what was read. */
  clear(host: Host): void {
    for (let i = 0; i < this.count; i++) {
      const known = this.values[i];
      if (known.found) host.release(known.value);
    }
    this.count = 0;
  }

  private find(host: Host, key: Bytes, reading: Reading): KnownValue {
    for (let i = 0; i < this.count; i++) {
      const known = this.values[i];
      if (known.reading == reading && sameBytes(known.key, key)) return known;
    }
    const known = this.add(key);
    known.reading = reading;
    known.value.set(0, 0);
    known.found = reading == Reading.ATTRIBUTE ? host.property(key, known.value) : host.requestHeader(key, known.value);
    return known;
  }

  private add(key: Bytes): KnownValue {
    const values = this.values;
    if (this.count == values.length) values.push(new KnownValue(key));
    const known = values[this.count++];
    known.key = key;
    return known;
  }
}
