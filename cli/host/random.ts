/** A small seeded generator (sfc32): the same seed gives the same bytes, so that runs can be repeated. */
export class SeededRandom {
  private a: number;
  private b: number;
  private c = 0;
  private counter = 1;

  /** @param seed any integer; its low 64 bits count */
  constructor(seed: bigint | number) {
    const bits = BigInt.asUintN(64, BigInt(seed));
    this.a = Number(bits & 0xffffffffn) | 0;
    this.b = Number(bits >> 32n) | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** A 32-bit unsigned integer. */
  next(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum;
    return sum >>> 0;
  }

  fill(target: Uint8Array): void {
    for (let at = 0; at < target.length; at += 4) {
      let word = this.next();
      for (let i = at; i < at + 4 && i < target.length; i++, word >>>= 8) target[i] = word & 0xff;
    }
  }
}
