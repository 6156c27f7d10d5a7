import { ClusterWeight } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/ClusterWeight";
import { PriorityGroup } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/PriorityGroup";
import { UInt32Value } from "../proto/google/protobuf/UInt32Value";
import { Fields } from "./fields";

/** Reads the `priority_groups` of a route's specifier or of an override; there is at least one. */
export function readGroups(fields: Fields): Array<PriorityGroup> {
  const items = fields.requiredList("priority_groups", "group");
  const groups = new Array<PriorityGroup>();
  for (let i = 0; i < items.length; i++) groups.push(readGroup(fields.element("priority_groups", i, items[i])));
  return groups;
}

function readGroup(fields: Fields): PriorityGroup {
  const group = new PriorityGroup();
  group.name = fields.requiredText("name");
  const clusters = fields.requiredList("clusters", "cluster");
  for (let i = 0; i < clusters.length; i++) {
    const cluster = fields.element("clusters", i, clusters[i]);
    const name = cluster.requiredText("cluster_name");
    const weight = cluster.requiredWhole("weight", 1, u32.MAX_VALUE);
    cluster.finish();
    group.clusters.push(new ClusterWeight(name, new UInt32Value(weight)));
  }
  fields.finish();
  return group;
}
