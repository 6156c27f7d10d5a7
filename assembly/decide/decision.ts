import { Bytes, View, encode } from "../bytes";
import { ViewList } from "../view-list";
import { groupIndex } from "./attempt";
import { Choice, setIdentity } from "./choice";
import { HostState, NO_HOST, compositeNamed } from "./composite";
import { Group } from "./group";
import { MAX_NAME, Override, OverrideGroup, UNKNOWN_CLUSTER } from "./override";
import { Plan } from "./plan";

const staticFirst = new View();
const overridden = new View();
const identity = new View();
const choice = new Choice();
const OVERRIDE = encode("override");

/** All that decides the clusters of one request: its route's plan, its random value, and its override if it has one. */
@final
export class Decision {
  random: u64 = 0;
  /** The group (1, 2, …) that the next attempt to be decided uses; 0: that of its own number. */
  turn: u32 = 0;
  overriding: Override = new Override();
  /** Why a group of the override cannot be used, at the first attempt that is decided by it; else "". */
  problem: string = "";
  /** The clusters of the attempts before, where they are avoided. */
  tried: ViewList = new ViewList();
  /** The cluster of the attempt that was decided last stands in a composite, and nothing is known of its hosts. */
  isUncertain: bool = false;

  // The last group repeats for as many attempts as there are, so what became of it is kept.
  private decided: i32 = -1;
  private valid: bool = false;
  private picked: View = new View();
  private group: OverrideGroup = new OverrideGroup();

  constructor(public plan: Plan) {}

  /** Forgets the request before, for one on a route with this plan. */
  start(plan: Plan): void {
    this.plan = plan;
    this.random = 0;
    this.turn = 0;
    this.decided = -1;
    this.overriding.length = 0;
    this.tried.clear();
    this.isUncertain = false;
  }

  /**
   * Sets `out` to the cluster of an attempt (1, 2, …) and returns whether it is the static default of that attempt.
   *
   * The override's group counts where it is valid; where it is not, the configured group of the same attempt does. Attempts
   * are asked for in order, so that what they use is known to those that follow.
   */
  clusterOf(attempt: u32, out: View): bool {
    this.problem = "";
    const plan = this.plan;
    const turn = this.turnOf(attempt);
    const configured = plan.groupOf(turn);
    const isFirst = !this.pickOverride(turn, out) && this.pickFrom(configured, out) == 0;
    const first = unchecked(configured.clusters[0]);
    if (plan.avoidsTried) this.addTried(out);
    if (plan.composites.length > 0) return this.resolve(attempt, first, out);
    return isFirst || out.equals(first);
  }

  /** Notes that the request has used a cluster. */
  addTried(cluster: View): void {
    setIdentity(cluster, identity);
    this.tried.add(identity.ptr, identity.length);
  }

  /** The configured name of the group of an attempt; OVERRIDE for a group that a request brought under a name of its own. */
  groupName(attempt: u32): Bytes {
    const turn = this.turnOf(attempt);
    if (!this.pickOverride(turn, overridden)) return this.plan.groupOf(turn).name;
    const named = this.plan.groupNamed(this.group.name);
    return named != null ? named.name : OVERRIDE;
  }

  private turnOf(attempt: u32): u32 {
    return !this.plan.refreshes ? 1 : this.turn > 0 ? this.turn : attempt;
  }

  // Replaces a composite cluster in `out` by the one that the attempt uses, and likewise finds the default.
  private resolve(attempt: u32, first: Bytes, out: View): bool {
    this.isUncertain = false;
    const composites = this.plan.composites;
    const picked = compositeNamed(composites, out);
    if (picked != null) {
      const candidate = picked.clusterOf(attempt);
      this.isUncertain = candidate != null && candidate.watched && candidate.state == HostState.UNKNOWN;
      const asks = this.isUncertain && picked.aggregates;
      out.setBytes(asks ? picked.defaultOf(attempt) : candidate != null ? candidate.name : NO_HOST);
    }
    staticFirst.setBytes(first);
    const composite = compositeNamed(composites, staticFirst);
    return out.equals(composite != null ? composite.defaultOf(attempt) : first);
  }

  // Sets `out` to the override's pick; false where there is no valid one.
  private pickOverride(turn: u32, out: View): bool {
    if (this.overriding.length == 0) return false;
    const index = groupIndex(turn, this.overriding.length);
    if (index != this.decided || this.tried.length > 0) this.decide(index);
    if (this.valid) out.set(this.picked.ptr, this.picked.length);
    return this.valid;
  }

  private decide(index: i32): void {
    this.decided = index;
    const group = this.group;
    this.overriding.groupAt(index, group);
    this.problem = group.problem;
    if (this.problem.length == 0) this.pickGroup(group);
    this.valid = this.problem.length == 0;
    if (this.valid) this.shorten();
  }

  // As natively, the request fails, since no cluster is called so.
  private shorten(): void {
    if (this.picked.length <= MAX_NAME) return;
    this.picked.setBytes(UNKNOWN_CLUSTER);
    this.problem = "the name of a cluster is too long, no cluster has it";
  }

  private pickGroup(group: OverrideGroup): void {
    if (group.hasClusters) {
      const picked = group.clusters.names.at(this.choose(group.clusters));
      this.picked.set(picked.ptr, picked.length);
      return;
    }
    const named = this.plan.groupNamed(group.name);
    if (named == null) this.problem = "no configured group has the name of a group without clusters";
    else this.pickFrom(named, this.picked);
  }

  private pickFrom(group: Group, out: View): i32 {
    const index = this.picks(group) ? this.chooseFrom(group) : group.pick(this.random);
    out.setBytes(unchecked(group.clusters[index]));
    return index;
  }

  // Whether more than the random value and the weights decides.
  private picks(group: Group): bool {
    return group.isWeighted && (this.plan.byScore || this.tried.length > 0);
  }

  private chooseFrom(group: Group): i32 {
    group.lend(choice);
    return this.choose(choice);
  }

  private choose(among: Choice): i32 {
    return among.pick(this.random, this.tried, this.plan.byScore);
  }
}
