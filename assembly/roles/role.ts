import { View, encode } from "../bytes";
import { Host } from "../host/host";

/** What a plugin does: its `root_id` says which. */
export enum Role {
  UNKNOWN,
  DOWNSTREAM,
  UPSTREAM,
  /** The downstream role on a route whose attempts are watched; no plugin is called so. */
  WATCHER,
}

/** Root contexts that are remembered: both roles of the listener's newest configurations. */
const REMEMBERED = 8;

const PLUGIN_ROOT_ID = encode("plugin_root_id");
const DOWNSTREAM = encode("downstream");
const UPSTREAM = encode("upstream");
const rootId = new View();

/**
 * Roles by root context. One VM serves both roles, and for a while those of configurations that were replaced; a root
 * that was forgotten is looked up again, so nothing grows with the number of configuration updates.
 */
@final
export class Roles {
  private roots: StaticArray<u32> = new StaticArray<u32>(REMEMBERED);
  private roles: StaticArray<Role> = new StaticArray<Role>(REMEMBERED);
  private next: i32 = 0;

  /** Reads the role of the root context that is being configured. */
  learn(root: u32, host: Host): Role {
    const role = readRole(host);
    unchecked((this.roots[this.next] = root));
    unchecked((this.roles[this.next] = role));
    this.next = (this.next + 1) % REMEMBERED;
    return role;
  }

  roleOf(root: u32, host: Host): Role {
    for (let i = 0; i < REMEMBERED; i++) {
      if (unchecked(this.roots[i]) == root) return unchecked(this.roles[i]);
    }
    return this.learn(root, host);
  }
}

/** The role of the plugin that the proxy calls for. */
export function readRole(host: Host): Role {
  if (!host.property(PLUGIN_ROOT_ID, rootId)) return Role.UNKNOWN;
  let role = Role.UNKNOWN;
  if (rootId.equals(DOWNSTREAM)) role = Role.DOWNSTREAM;
  else if (rootId.equals(UPSTREAM)) role = Role.UPSTREAM;
  host.release(rootId);
  return role;
}
