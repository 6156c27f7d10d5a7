import { execa } from "execa";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { unusedPort } from "../../tools/ports.js";
import { waitFor } from "../../tools/wait.js";

const MAIN = fileURLToPath(new URL("../../demo/stand-ins.ts", import.meta.url));

function standIns(...args: string[]) {
  return execa(process.execPath, ["--import", "tsx", MAIN, ...args], { reject: false, env: { NO_COLOR: "1" } });
}

test("answer as told on their ports, print each attempt, and obey their own hints", async () => {
  const [limited, gone, well] = [await unusedPort(), await unusedPort(), await unusedPort()];
  const running = standIns(`model_1=${limited}:429`, `model_2=${gone}:down`, `provider_b=${well}`);
  let output = "";
  running.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await waitFor("the servers", () => output.includes(`provider_b listens on port ${well}`), 10_000);
  const ask = (port: number) => fetch(`http://127.0.0.1:${port}/`).then((response) => response.status);
  expect(await ask(limited)).toBe(429);
  await expect(ask(gone)).rejects.toThrow("fetch failed");
  expect(await ask(well)).toBe(200);
  const hint = /to change that: curl -X POST '(\S+)'/.exec(output)?.[1] ?? "";
  await fetch(hint, { method: "POST" });
  expect(await ask(limited)).toBe(200);
  await waitFor("the attempts", () => output.endsWith("model_1: 429\nmodel_2: down\nprovider_b: 200\nmodel_1: 200\n"));
  running.kill("SIGINT");
  await running;
});

test.each(["model_1", "model_1=99999", "model_1=9001:100", "=9001"])("refuse %s with the fix", async (wrong) => {
  const { exitCode, stdout, stderr } = await standIns(wrong);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`"${wrong}" is no stand-in. Write NAME=PORT`);
});
