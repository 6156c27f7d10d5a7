import { Bytes, View, sameBytes } from "../bytes";
import { Candidate } from "./composite";

/** Every cluster that composite clusters list, once each, so that all lists share what is known about it. */
@final
export class Candidates {
  /** Those whose state matters, in the order in which they became known. */
  readonly watched: Array<Candidate> = [];

  private all: Array<Candidate> = [];

  /** The cluster of that name; added where it is new. */
  named(name: Bytes): Candidate {
    const all = this.all;
    for (let i = 0; i < all.length; i++) {
      if (sameBytes(unchecked(all[i]).name, name)) return unchecked(all[i]);
    }
    const candidate = new Candidate(name);
    all.push(candidate);
    return candidate;
  }

  /** The watched cluster of that name, or null. */
  findWatched(name: View): Candidate | null {
    const watched = this.watched;
    for (let i = 0; i < watched.length; i++) {
      if (name.equals(unchecked(watched[i]).name)) return unchecked(watched[i]);
    }
    return null;
  }

  /** From now on the state of the cluster matters. */
  watch(candidate: Candidate): void {
    if (candidate.watched) return;
    candidate.watched = true;
    this.watched.push(candidate);
  }
}
