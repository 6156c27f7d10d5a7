import { View, decode, encode } from "../../assembly/bytes";
import { Cursor } from "../../assembly/wire/cursor";
import { MetadataField, findNamespace } from "../../assembly/wire/metadata";
import { readStruct } from "../../assembly/settings/struct";
import { entry, field, join, stringValue, text, varint, view } from "./support/wire";
import { Kind } from "../../assembly/settings/value";

const out = new View();

describe("namespace of a Metadata message", () => {
  test("the value of the asked namespace alone", () => {
    const metadata = join([entry("other", text("x")), entry("mine", text("value")), entry("more", text("y"))]);
    expect(findNamespace(view(metadata), MetadataField.FILTER_METADATA, encode("mine"), out)).toBe(true);
    expect(decode(out.copy())).toBe("value");
    expect(findNamespace(view(metadata), MetadataField.TYPED_FILTER_METADATA, encode("mine"), out)).toBe(false);
    expect(findNamespace(view(metadata), MetadataField.FILTER_METADATA, encode("absent"), out)).toBe(false);
  });

  test("of a namespace that is there twice the last counts", () => {
    const metadata = join([entry("mine", text("first")), entry("mine", text("second"))]);
    expect(findNamespace(view(metadata), MetadataField.FILTER_METADATA, encode("mine"), out)).toBe(true);
    expect(decode(out.copy())).toBe("second");
  });

  test("every truncation is absent or found whole, never a trap", () => {
    const metadata = join([entry("mine", text("value")), entry("other", text("x"))]);
    for (let length = 0; length < metadata.length; length++) {
      const cut = view(metadata.slice(0, length));
      if (findNamespace(cut, MetadataField.FILTER_METADATA, encode("mine"), out)) {
        expect(decode(out.copy())).toBe("value");
      }
    }
  });
});

describe("value tree of a Struct", () => {
  test("every kind", () => {
    const number = join([varint((2 << 3) | 1), new Uint8Array(8)]);
    store<f64>(number.dataStart + 1, 1.5);
    const flag = join([varint(4 << 3), varint(1)]);
    const nothing = join([varint(1 << 3), varint(0)]);
    const inner = field(5, entry("s", stringValue("text")));
    const items = field(6, join([field(1, stringValue("a")), field(1, flag)]));
    const struct = join([
      entry("n", number),
      entry("b", flag),
      entry("z", nothing),
      entry("o", inner),
      entry("l", items),
    ]);
    const value = readStruct(view(struct))!;
    expect(value.names.length).toBe(5);
    expect(value.items[0].number).toBe(1.5);
    expect(value.items[1].flag).toBe(true);
    expect(value.items[2].kind).toBe(Kind.NULL);
    expect(decode(value.items[3].items[0].text)).toBe("text");
    expect(value.items[4].items.length).toBe(2);
    expect(value.items[4].items[1].kind).toBe(Kind.BOOL);
  });

  test("nested too deep is no struct", () => {
    let value = stringValue("deep");
    for (let i = 0; i < 5000; i++) value = field(5, entry("s", value));
    expect(readStruct(view(entry("s", value))) == null).toBe(true);
  });

  test("every truncation of a struct ends without a trap", () => {
    const struct = entry("o", field(5, entry("l", field(6, join([field(1, stringValue("a"))])))));
    for (let length = 0; length < struct.length; length++) readStruct(view(struct.slice(0, length)));
    expect(readStruct(view(struct)) == null).toBe(false);
  });

  test("lengths that point past the end are malformed", () => {
    const bytes = new Uint8Array(11);
    bytes.fill(0xff);
    bytes[0] = 0x0a;
    bytes[10] = 0x01;
    const cursor = new Cursor(bytes.dataStart, bytes.dataStart + <usize>bytes.length);
    expect(cursor.next()).toBe(false);
    expect(cursor.malformed).toBe(true);
  });
});
