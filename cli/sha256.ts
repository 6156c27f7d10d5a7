// SHA-256 (FIPS 180-4). Names in lowered files are digests, and the same file gets the same names wherever it is lowered: the
// one of Node.js is not in browsers, and theirs answers later only.

/** Fractional parts of the square (`power` 2) or cube roots of the first primes, as FIPS 180-4 defines its constants. */
function rootsOfPrimes(count: number, power: 2 | 3): Uint32Array {
  const roots = new Uint32Array(count);
  for (let prime = 2, found = 0; found < count; prime++) {
    if (isPrime(prime)) roots[found++] = fractionOfRoot(prime, power);
  }
  return roots;
}

function isPrime(value: number): boolean {
  for (let divisor = 2; divisor * divisor <= value; divisor++) if (value % divisor === 0) return false;
  return true;
}

/** The first 32 bits of the fraction, exactly: the integer root of `value` times 2 to the power of `32 * power`. */
function fractionOfRoot(value: number, power: 2 | 3): number {
  const target = BigInt(value) << BigInt(32 * power);
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** BigInt(power) <= target) root += bit;
  return Number(root & 0xffff_ffffn);
}

const START = rootsOfPrimes(8, 2);
const ROUNDS = rootsOfPrimes(64, 3);

/** The digest of bytes, or of a text as UTF-8: 64 hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const blocks = padded(bytes);
  const state = Uint32Array.from(START);
  const words = new Uint32Array(64);
  for (let at = 0; at < blocks.byteLength; at += 64) digestBlock(state, words, blocks, at);
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The bytes, a bit, zeros, and the number of bits, in blocks of 64 bytes. */
function padded(bytes: Uint8Array): DataView {
  const out = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  out.set(bytes);
  out[bytes.length] = 0x80;
  const view = new DataView(out.buffer);
  view.setBigUint64(out.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function digestBlock(state: Uint32Array, words: Uint32Array, block: DataView, start: number): void {
  for (let i = 0; i < 16; i++) words[i] = block.getUint32(start + i * 4);
  for (let i = 16; i < 64; i++) {
    const [early, late] = [words[i - 15] ?? 0, words[i - 2] ?? 0];
    const low = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const high = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[i] = (words[i - 16] ?? 0) + low + (words[i - 7] ?? 0) + high;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + high + ((e & f) ^ (~e & g)) + (ROUNDS[i] ?? 0) + (words[i] ?? 0)) | 0;
    const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] ?? 0) + word;
}
