// `npm run test:envoy-gateway [-- OPTIONS OF VITEST]`: builds Envoy Gateway once, and runs the tests that need it where nobody
// else is: it listens on all interfaces, on ports that cannot be chosen, and leaves its proxies behind when it is killed.
import { execa } from "execa";
import { envoyVersions, findEnvoy } from "../envoy/binary.js";
import { findEnvoyGateway } from "./binary.js";

for (const version of (await envoyVersions()).versions) await findEnvoy(version);
await findEnvoyGateway();
const apart = ["--map-root-user", "--net", "--mount-proc", "--pid", "--fork", "--kill-child"];
const vitest = ["vitest", "run", "--config", "vitest.extra.config.ts", "--mode", "envoy-gateway"];
const { exitCode } = await execa(
  "unshare",
  [...apart, "sh", "-c", 'ip link set lo up && "$@"', "sh", ...vitest, ...process.argv.slice(2)],
  { preferLocal: true, stdio: "inherit", reject: false },
);
process.exitCode = exitCode ?? 1;
