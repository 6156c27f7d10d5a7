// Picks that hang on more than a random value and weights: `avoid_tried_clusters`, and `pick: RENDEZVOUS`.

import { View } from "../bytes";
import { ViewList } from "../view-list";
import { mixed, xxhash64 } from "./xxhash64";

/** What stands before the twelve digits at the end of a stand-in's name, as a number: "@ar-". */
const MARK: u32 = 0x2d726140;
const MARKED_END: i32 = 16;
/** The square root of 2, and the natural logarithm of 2. */
const SQRT_2: f64 = 1.4142135623730951;
const LN_2: f64 = 0.6931471805599453;
/** Enough for the last bit of a double, for numbers up to the square root of 2. */
const TERMS: f64 = 41;

/** Sets `out` to the name by which a cluster counts: of a stand-in, the cluster that it begins with. */
export function setIdentity(name: View, out: View): void {
  const end = name.length - MARKED_END;
  const isStandIn = end > 0 && load<u32>(name.ptr + <usize>end) == MARK;
  out.set(name.ptr, isStandIn ? end : name.length);
}

/** Clusters to pick from once, by name, and their weights. Refers to names that somebody else keeps, and is reused. */
@final
export class Choice {
  names: ViewList = new ViewList();

  private weights: Array<u64> = [];

  clear(): void {
    this.names.clear();
  }

  add(ptr: usize, length: i32, weight: u64): void {
    const index = this.names.length;
    this.names.add(ptr, length);
    if (index == this.weights.length) this.weights.push(weight);
    else this.weights[index] = weight;
  }

  /**
   * Index of a cluster, of which there is at least one. Those that were `tried` are left out, unless all were; the weights of
   * the others then count among themselves. `byScore`: by rendezvous, so that a key moves only where its cluster comes or goes.
   */
  pick(random: u64, tried: ViewList, byScore: bool): i32 {
    let rest: u64 = 0;
    let total: u64 = 0;
    for (let i = 0; i < this.names.length; i++) {
      const weight = this.weights[i];
      total += weight;
      if (!tried.has(this.identityOf(i))) rest += weight;
    }
    if (rest == 0 || rest == total) rest = total;
    else {
      this.leaveOut(tried);
      // The remainder of the value has decided before, so what is left of it is not even.
      if (!byScore) random = mixed(random + <u64>tried.length);
    }
    if (byScore) return this.best(random);
    let value = random % rest;
    let index = 0;
    while (value >= this.weights[index]) value -= this.weights[index++];
    return index;
  }

  private leaveOut(tried: ViewList): void {
    for (let i = 0; i < this.names.length; i++) {
      if (tried.has(this.identityOf(i))) this.weights[i] = 0;
    }
  }

  private identityOf(index: i32): View {
    setIdentity(this.names.at(index), part);
    return part;
  }

  // Weighted rendezvous: each cluster draws an exponential variable of rate `weight` from its name and the key, and the least one
  // wins. So a cluster wins in proportion to its weight, and the order of the others does not hang on it.
  private best(key: u64): i32 {
    let index = 0;
    let least: f64 = Infinity;
    for (let i = 0; i < this.names.length; i++) {
      const name = this.identityOf(i);
      // One that is left out has weight 0 and draws infinity.
      const draw = exponential(xxhash64(name.ptr, name.length, key)) / <f64>this.weights[i];
      if (draw < least) {
        least = draw;
        index = i;
      }
    }
    return index;
  }
}

const part = new View();

/** An exponential variable of rate 1 from an even 64-bit value: minus the logarithm of a number above 0 and below 1. */
function exponential(value: u64): f64 {
  // The middles of 2^53 intervals.
  const bits = reinterpret<u64>(<f64>(((value >> 11) << 1) | 1));
  let mantissa = reinterpret<f64>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  let exponent = <i32>(bits >> 52) - 1023 - 54;
  if (mantissa > SQRT_2) {
    mantissa /= 2;
    exponent++;
  }
  const ratio = (mantissa - 1) / (mantissa + 1);
  let term = 2 * ratio;
  let sum: f64 = 0;
  for (let n: f64 = 1; n < TERMS; n += 2) {
    sum += term / n;
    term *= ratio * ratio;
  }
  return -(sum + <f64>exponent * LN_2);
}
