/** The module's own random values: SplitMix64, one 64-bit value per request, every value equally likely. */
@final
export class Random {
  constructor(private state: u64) {}

  next(): u64 {
    this.state += 0x9e3779b97f4a7c15;
    let z = this.state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
}
