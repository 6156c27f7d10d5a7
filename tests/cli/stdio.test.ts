import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../cli/program.js";
import { run, WASM_IN_GOLDEN } from "./support.js";

const ROUTES = {
  "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  name: "routes",
  virtual_hosts: [{ name: "all", domains: ["*"], routes: [routeTo("a", "b")] }],
};
const CLUSTER = { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "line\u2028end" };

describe("serve --stdio", () => {
  test("answers each line with what it lowers to, in order, and ends with the input", async () => {
    const lines = [{ id: 7, resources: [CLUSTER, ROUTES] }, { resources: [] }, { bootstrap: { admin: {} } }];
    const { code, answers } = await serve(lines.map((line) => JSON.stringify(line)).join("\n\r\n"));
    expect(code).toBe(0);
    const [first, ...others] = answers;
    expect(first).toMatchObject({ id: 7, resources: [CLUSTER, { name: "routes" }] });
    expect(JSON.stringify(first)).toContain("cluster_specifier_plugin.matcher");
    expect(JSON.stringify(first)).not.toContain("PriorityGroupClusterSpecifier");
    expect(others).toEqual([
      { resources: [], warnings: [] },
      { bootstrap: { admin: {} }, warnings: [] },
    ]);
  });

  test("names what is wrong by its path, and goes on", async () => {
    const wrong = { ...ROUTES, virtual_hosts: [{ name: "all", domains: ["*"], routes: [routeTo()] }] };
    const { code, answers } = await serve([JSON.stringify({ id: "x", resources: [wrong] }), "{}"].join("\n"));
    expect(code).toBe(0);
    const { errors, ...others } = answers[0] as { errors: { path: string; message: string }[] };
    expect(others).toEqual({ id: "x" });
    expect(errors.map(({ path }) => path)).toEqual([
      expect.stringMatching(/^resources\[0\]\.virtual_hosts\[0\]\.routes\[0\]\.route\..*\.priority_groups$/),
    ]);
    expect(errors[0]?.message).toMatch(/^expected .*, found /);
    expect(answers[1]).toMatchObject({ errors: [{ path: "(document)" }] });
  });

  test.each([
    ["no JSON", "{"],
    ["another value", "[1]"],
    ["no list", '{"resources": {}}'],
    ["a resource that is no object", '{"resources": [1]}'],
    ["a bootstrap that is no object", '{"bootstrap": []}'],
    ["both", '{"resources": [], "bootstrap": {}}'],
    ["a resource without a type", '{"resources": [{}]}'],
    ["an error of the user's own making", '{"path": "p", "message": "m"}'],
  ])("refuses %s with the line's errors only", async (_, line) => {
    const { code, answers } = await serve(`${line}\n{"resources": []}\n`);
    expect(code).toBe(0);
    const [refused, next] = answers as { errors: { message: string }[] }[];
    expect(Object.keys(refused ?? {})).toEqual(["errors"]);
    expect(refused?.errors.map(({ message }) => message)).toEqual([expect.stringMatching(/^expected/)]);
    expect(next).toEqual({ resources: [], warnings: [] });
  });

  test("refuses bytes that are no UTF-8", async () => {
    const input = Readable.from([Buffer.from([0x7b, 0xff, 0x7d, 0x0a])]);
    expect(JSON.parse(await served(input))).toMatchObject({
      errors: [{ message: "expected UTF-8, found other bytes" }],
    });
  });

  test("answers a line before the next one comes, however it is cut", async () => {
    const input = new PassThrough();
    const answered = new Promise<string>((resolve) => void served(input, resolve));
    const line = `${JSON.stringify({ resources: [ROUTES] })}\n`;
    input.write(line.slice(0, 20));
    input.write(line.slice(20));
    expect(await answered).toContain("cluster_specifier_plugin.matcher");
    input.end();
  });
});

function routeTo(...clusters: string[]): object {
  const priority_groups = clusters.map((name) => ({ name, clusters: [{ cluster_name: name, weight: 1 }] }));
  const type = "envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier";
  const typed_config = { "@type": `type.googleapis.com/${type}`, priority_groups };
  const extension = { name: "priority_group", typed_config };
  return { match: { prefix: "/" }, route: { inline_cluster_specifier_plugin: { extension } } };
}

async function serve(input: string): Promise<{ code: number; answers: unknown[] }> {
  const { code, stdout } = await run(["serve", "--stdio", "--wasm", WASM_IN_GOLDEN], input);
  return {
    code,
    answers: stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown),
  };
}

/** What is answered, and each part of it at once to `onWrite`. */
async function served(stdin: Readable, onWrite: (text: string) => void = () => undefined): Promise<string> {
  const parts: string[] = [];
  const write = (text: string): void => {
    parts.push(text);
    onWrite(text);
  };
  await runProgram(["serve", "--stdio"], { stdin, stdout: { write }, stderr: { write }, colors: false });
  return parts.join("");
}
