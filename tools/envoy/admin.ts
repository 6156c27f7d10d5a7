import { waitFor } from "../wait.js";

/** Envoy's admin interface. */
export class Admin {
  /** @param address `host:port` */
  constructor(readonly address: string) {}

  /** The body of GET `path`; rejects on a status other than 200. */
  async get(path: string): Promise<string> {
    const response = await fetch(`http://${this.address}${path}`);
    if (!response.ok) throw new Error(`admin ${path}: status ${response.status}`);
    return await response.text();
  }

  /** The value of a counter or gauge; 0 while Envoy has none of that name. */
  async stat(name: string): Promise<number> {
    const filter = encodeURIComponent(`^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
    const line = await this.get(`/stats?filter=${filter}`);
    return line === "" ? 0 : Number(line.slice(line.lastIndexOf(":") + 1));
  }

  /** Waits until the statistic `name` satisfies `holds` and returns its value. */
  async waitForStat(name: string, holds: (value: number) => boolean, timeoutMs?: number): Promise<number> {
    const probe = async () => {
      const value = await this.stat(name);
      if (!holds(value)) throw new Error(`${name} is ${value}`);
      return { value };
    };
    return (await waitFor(`statistic ${name}`, probe, timeoutMs)).value;
  }
}
