import { crc32 } from "node:zlib";

const BLOCK = 512;

/**
 * A tar archive (POSIX ustar) of one file, owned by root and of time 0: the same bytes for the same content on every
 * machine.
 */
export function tarOf(name: string, content: Uint8Array): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  const put = (offset: number, text: string) => header.write(text, offset, "latin1");
  put(0, name);
  put(100, octal(0o644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(content.length, 11));
  put(136, octal(0, 11));
  // The checksum counts itself as spaces.
  put(148, " ".repeat(8));
  put(156, "0");
  put(257, "ustar\x0000");
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return Buffer.concat([header, content, padding, Buffer.alloc(2 * BLOCK)]);
}

const STORED_MAX = 0xffff;

/**
 * A gzip file whose data is stored, not deflated: what a deflater writes differs between versions of its library, and
 * with it the digest of a layer.
 */
export function gzipStored(data: Buffer): Buffer {
  // Magic, deflate, no flags, time 0, no hints, unknown system.
  const parts: Buffer[] = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])];
  for (let at = 0; at < data.length || at === 0; at += STORED_MAX) {
    const chunk = data.subarray(at, at + STORED_MAX);
    const head = Buffer.alloc(5);
    head.writeUInt8(at + STORED_MAX >= data.length ? 1 : 0, 0);
    head.writeUInt16LE(chunk.length, 1);
    head.writeUInt16LE(~chunk.length & 0xffff, 3);
    parts.push(head, chunk);
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(data), 0);
  tail.writeUInt32LE(data.length % 2 ** 32, 4);
  return Buffer.concat([...parts, tail]);
}
