import { View } from "../bytes";
import { Group } from "./group";
import { Override, OverrideGroup } from "./override";
import { Plan } from "./plan";

/** All that decides the clusters of one request: its route's plan, its random value, and its override if it has one. */
@final
export class Decision {
  random: u64 = 0;
  overriding: Override = new Override();
  /** Why the override's group of the attempt that was decided last was not used; "" where it was. */
  problem: string = "";

  private group: OverrideGroup = new OverrideGroup();

  constructor(public plan: Plan) {}

  /**
   * Sets `out` to the cluster of an attempt (1, 2, …) and returns whether it is the static default of that attempt.
   *
   * The override's group counts where it is valid; where it is not, the configured group of the same attempt does.
   */
  clusterOf(attempt: u32, out: View): bool {
    this.problem = "";
    const configured = this.plan.groupOf(attempt);
    if (this.overriding.length > 0 && this.pickOverride(attempt, out)) {
      return out.equals(unchecked(configured.clusters[0]));
    }
    return this.pickFrom(configured, out) == 0;
  }

  private pickOverride(attempt: u32, out: View): bool {
    const group = this.group;
    this.overriding.groupOf(attempt, group);
    this.problem = group.problem;
    if (this.problem.length > 0) return false;
    if (group.hasClusters) {
      group.pick(this.random, out);
      return true;
    }
    const named = this.plan.groupNamed(group.name);
    if (named == null) this.problem = "no configured group has the name of a group without clusters";
    else this.pickFrom(named, out);
    return named != null;
  }

  private pickFrom(group: Group, out: View): i32 {
    const index = group.pick(this.random);
    out.setBytes(unchecked(group.clusters[index]));
    return index;
  }
}
