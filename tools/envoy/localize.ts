import { isScalar, parseDocument, visit, type YAMLMap } from "yaml";

export interface Localization {
  /** Port on 127.0.0.1 by host name. */
  hosts: Record<string, number>;
  /** Path by path as it stands in the config. */
  files?: Record<string, string>;
}

/**
 * A bootstrap that runs on this machine: host names become ports on 127.0.0.1, addresses that Envoy binds (IP addresses)
 * become ports there that the system chooses, file names are replaced. Comments and everything else stay.
 * @throws Error for a host name that is not in `hosts`.
 */
export function localize(bootstrap: string, { hosts, files = {} }: Localization): string {
  const document = parseDocument(bootstrap);
  visit(document, {
    Map: (_, map) => {
      const address = text(map, "address");
      const filename = text(map, "filename");
      if (address !== undefined && map.has("port_value")) {
        map.set("address", "127.0.0.1");
        map.set("port_value", isIpAddress(address) ? 0 : portOf(address, hosts));
      }
      if (filename !== undefined) map.set("filename", files[filename] ?? filename);
    },
  });
  return document.toString({ lineWidth: 0 });
}

function text(map: YAMLMap, key: string): string | undefined {
  const value = map.get(key, true);
  return isScalar(value) && typeof value.value === "string" ? value.value : undefined;
}

function isIpAddress(address: string): boolean {
  return /^[\d.]+$|:/.test(address);
}

function portOf(host: string, hosts: Record<string, number>): number {
  const port = hosts[host];
  if (port === undefined) throw new Error(`no port known for host ${host}`);
  return port;
}
