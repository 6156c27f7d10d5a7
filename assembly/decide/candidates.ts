import { Bytes, View } from "../bytes";
import { Candidate, Composite, HostState } from "./composite";
import { NameTable } from "./name-table";

/** Bytes that clusters take at most; what is more is used, but not remembered. */
const MAX_BYTES: i32 = 4 << 20;
/** What a cluster takes besides its name, which is there twice: once in the question about it. */
const OVERHEAD = 256;
/** Seconds for which a cluster is remembered that no request and no configuration names. */
const FORGET_AFTER: u32 = 300;
/** Seconds between two looks for such clusters. */
const LOOK_EVERY: u32 = 60;

/** Every cluster that composite clusters list, once each, so that all lists share what is known about it. */
@final
export class Candidates {
  /** Those whose state matters, in the order in which they became known. */
  watched: Array<Candidate> = [];
  /** The time in seconds, as of the last tick. */
  now: u32 = 0;

  private all: Array<Candidate> = [];
  private table: NameTable = new NameTable();
  private bytes: i32 = 0;
  private lookedAt: u32 = 0;

  /** The cluster of that name; added where it is new. */
  named(name: Bytes): Candidate {
    const found = this.table.find(changetype<usize>(name), name.length);
    if (found != null) return changetype<Candidate>(found);
    const candidate = new Candidate(name);
    candidate.usedAt = this.now;
    this.remember(candidate);
    return candidate;
  }

  /** The watched cluster of that name, or null. */
  findWatched(name: View): Candidate | null {
    const found = changetype<Candidate | null>(this.table.find(name.ptr, name.length));
    return found != null && found.watched ? found : null;
  }

  /** From now on the state of the cluster matters. */
  watch(candidate: Candidate): void {
    if (candidate.watched || !candidate.remembered) return;
    candidate.watched = true;
    this.watched.push(candidate);
  }

  /** Notes that the clusters of these composites are in use, and watches those that may be skipped. */
  use(composites: StaticArray<Composite>): void {
    for (let i = 0; i < composites.length; i++) {
      const composite = unchecked(composites[i]);
      for (let attempt = 1; attempt <= composite.length; attempt++) this.useList(composite.candidates(attempt));
    }
  }

  /**
   * Takes the time, in seconds. Whether some watched cluster was forgotten, since nothing names it any more; the others may
   * then stand in another order.
   */
  tick(now: u32): bool {
    this.now = now;
    if (now - this.lookedAt < LOOK_EVERY) return false;
    this.lookedAt = now;
    return this.forget();
  }

  private useList(list: StaticArray<Candidate>): void {
    for (let i = 0; i < list.length; i++) {
      const candidate = unchecked(list[i]);
      candidate.usedAt = this.now;
      if (!candidate.remembered) this.remember(candidate);
      if (i < list.length - 1) this.watch(candidate);
    }
  }

  private remember(candidate: Candidate): void {
    const size = OVERHEAD + 2 * candidate.name.length;
    if (this.bytes + size > MAX_BYTES) return;
    this.bytes += size;
    candidate.remembered = true;
    this.all.push(candidate);
    this.table.add(candidate);
  }

  private forget(): bool {
    const all = this.all;
    const watched = this.watched.length;
    this.all = [];
    this.watched = [];
    this.table = new NameTable();
    this.bytes = 0;
    for (let i = 0; i < all.length; i++) {
      const candidate = all[i];
      const isWatched = candidate.watched;
      candidate.remembered = false;
      candidate.watched = false;
      if (this.now - candidate.usedAt <= FORGET_AFTER) {
        this.remember(candidate);
        if (isWatched) this.watch(candidate);
      } else candidate.state = HostState.UNKNOWN;
    }
    return this.watched.length < watched;
  }
}
