import { Bytes, NOTHING, View } from "../bytes";
import { Answers } from "./answers";
import { groupIndex } from "./attempt";
import { Composite } from "./composite";
import { Group } from "./group";
import { HashPolicy } from "./hash-policy";

/** Where the random value of a request comes from. */
export enum RandomSource {
  INTERNAL,
  HEADER,
  HASH_POLICY,
}

/** How a pick reaches the route's matcher, see `attempt_router.v1.SlotForm`. */
export enum SlotForm {
  SLOT_PER_ATTEMPT,
  ONE_SLOT,
  HEADERS,
}

const NO_COMPOSITES = new StaticArray<Composite>(0);

/** What decides the attempts of a route's requests, compiled from its settings; shared by all requests of a VM. */
@final
export class Plan {
  /** Bit per counter: its cause was logged for this route. */
  reported: u32 = 0;
  /** Number of attempts with a slot of their own, at least 1. */
  slots: i32 = 1;
  slotForm: SlotForm = SlotForm.SLOT_PER_ATTEMPT;
  randomSource: RandomSource = RandomSource.INTERNAL;
  /** Attribute that holds the header of RandomSource.HEADER, its lines joined with ",". */
  randomHeaderPath: Bytes = NOTHING;
  hashPolicies: StaticArray<HashPolicy> = new StaticArray<HashPolicy>(0);
  /** Keep the request on this route through filter state `wasm.attempt_router.route`. */
  pin: bool = false;
  /** Dynamic metadata namespace of the per-request override, or null. */
  overrideNamespace: Bytes | null = null;
  /** The composite clusters that a pick may name. */
  composites: StaticArray<Composite> = NO_COMPOSITES;
  /** When the clusters of these were last noted as in use, in seconds. */
  usedAt: u32 = 0;
  /** Some composite cluster may skip clusters, so what is known about them matters at every attempt. */
  skipsClusters: bool = false;
  /** Every attempt has a group of its own; else all of them use that of attempt 1. */
  refreshes: bool = true;
  /** The upstream role decides the next attempt from the metadata as it then is. */
  readMetadataPerAttempt: bool = false;
  /** A pick prefers clusters that the request has not used. */
  avoidsTried: bool = false;
  /** Picks are made by rendezvous, see `Choice`. */
  byScore: bool = false;
  /** What the answers of attempts mean, and whether they are recorded; null: nothing, and no. */
  answers: Answers | null = null;
  /** Some group has several clusters, so the random value matters. */
  readonly isWeighted: bool;

  constructor(
    readonly routeName: Bytes,
    readonly groups: StaticArray<Group>,
  ) {
    let weighted = false;
    for (let i = 0; i < groups.length; i++) weighted = weighted || groups[i].isWeighted;
    this.isWeighted = weighted;
  }

  /** Whether the upstream role has work on this route, and needs the random value of the request. */
  get decidesPerAttempt(): bool {
    return this.slotForm == SlotForm.ONE_SLOT || this.readMetadataPerAttempt || this.skipsClusters || this.hasSteps;
  }

  /** Whether the answer of an attempt may choose the group of the next. */
  get hasSteps(): bool {
    const answers = this.answers;
    return answers != null && answers.hasSteps;
  }

  /** Whether the random value of a request may matter. */
  get usesRandom(): bool {
    return this.isWeighted || this.overrideNamespace != null;
  }

  /** Whether the route has priority groups of its own; with specifiers it may have none. */
  get hasGroups(): bool {
    return this.groups.length > 0;
  }

  /** The first configured group of that name, or null. */
  groupNamed(name: View): Group | null {
    const groups = this.groups;
    for (let i = 0; i < groups.length; i++) {
      if (name.equals(unchecked(groups[i]).name)) return unchecked(groups[i]);
    }
    return null;
  }

  /** The group of an attempt (1, 2, …). */
  groupOf(attempt: u32): Group {
    return unchecked(this.groups[groupIndex(attempt, this.groups.length)]);
  }
}
