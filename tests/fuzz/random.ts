/** A small seeded generator, so that every run of the fuzzer can be repeated. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** 32 random bits (mulberry32). */
  bits(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor((this.bits() / 2 ** 32) * end);
  }

  chance(probability: number): boolean {
    return this.bits() < probability * 2 ** 32;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.bits() & 0xff));
  }
}
