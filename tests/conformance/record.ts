// Writes what native Envoy does into the `expect` of case files: `[CASE=name,…] npx tsx tests/conformance/record.ts`.
// Cases that have an `expect` are left alone unless --overwrite is given.
import { readFile, writeFile } from "node:fs/promises";
import { isCollection, parseDocument, type Document, type Node } from "yaml";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { loadCases, type Case } from "../support/case.js";
import { runLeg } from "../support/run-case.js";

const { oracle } = await envoyVersions();
const overwrite = process.argv.includes("--overwrite");

for (const testCase of loadCases()) {
  if (testCase.expect === undefined || (overwrite && testCase.expect !== "rejected")) {
    await record(testCase).catch((error: unknown) => {
      process.exitCode = 1;
      process.stderr.write(`${testCase.name}: ${(error as Error).message}\n`);
    });
  }
}

async function record(testCase: Case): Promise<void> {
  const result = await runLeg(testCase, oracle);
  const document = parseDocument(await readFile(testCase.file, "utf8"), { intAsBigInt: true });
  document.set("expect", compact(document, result.expect));
  if (testCase.observe?.stats) document.set("expect_stats", result.stats);
  await writeFile(testCase.file, document.toString({ lineWidth: 120, indentSeq: false, flowCollectionPadding: false }));
  process.stdout.write(`${testCase.name}: recorded\n`);
}

/** One line for each request, where it fits. */
function compact(document: Document, expect: unknown): Node {
  const node = document.createNode(expect) as Node;
  if (isCollection(node)) for (const item of node.items) if (isCollection(item)) item.flow = true;
  return node;
}
