import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT, EnvoyProcess, EnvoyStartError } from "../../tools/envoy/process.js";
import { waitFor } from "../../tools/wait.js";

const { versions } = await envoyVersions();
const EMPTY = stringify({ admin: { address: ANY_PORT } });
const HOLD_ENVOY = fileURLToPath(new URL("fixtures/hold-envoy.ts", import.meta.url));

describe.each(versions)("Envoy %s", (version) => {
  test("starts, answers and leaves nothing behind", async () => {
    const envoy = await EnvoyProcess.start(version, EMPTY);
    expect(await envoy.admin.get("/server_info")).toContain(`/${version}/`);
    await envoy.admin.waitForStat("server.live", (value) => value === 1);
    await envoy.stop();
    expect(existsSync(envoy.directory)).toBe(false);
    expect(groupExists(envoy.child.pid)).toBe(false);
  });

  test("gives the ports the system chose for its listeners", async () => {
    const socket = { name: "envoy.filters.network.echo" };
    const type = { "@type": "type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo" };
    const filter_chains = [{ filters: [{ ...socket, typed_config: type }] }];
    const listeners = ["one", "two"].map((name) => ({ name, address: ANY_PORT, filter_chains }));
    const bootstrap = stringify({ admin: { address: ANY_PORT }, static_resources: { listeners } });
    const envoy = await EnvoyProcess.start(version, bootstrap);
    expect(envoy.port("one")).toBeGreaterThan(0);
    expect(envoy.port("two")).not.toBe(envoy.port("one"));
    await envoy.stop();
  });

  test("reports why a configuration was refused", async () => {
    const start = EnvoyProcess.start(version, `${EMPTY}nonsense: 1\n`);
    await expect(start).rejects.toThrow(EnvoyStartError);
    await expect(start).rejects.toThrow(/nonsense/);
    await expect(start).rejects.toMatchObject({ refused: true });
  });

  test("ends when the process that started it is killed", async () => {
    const holder = spawn(process.execPath, ["--import", "tsx", HOLD_ENVOY, version], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(holder.stdout, "data")) as [Buffer];
    const [group, directory] = JSON.parse(line.toString()) as [number, string];
    expect(groupExists(group)).toBe(true);
    holder.kill("SIGKILL");
    await waitFor("Envoy to end", () => !groupExists(group));
    expect(existsSync(directory)).toBe(false);
  });
});

function groupExists(leader: number | undefined): boolean {
  try {
    return process.kill(-(leader ?? 0), 0);
  } catch {
    return false;
  }
}
