// Feeds the module metadata of every kind and compares what it does with the specification.

import { WasmHost } from "../../cli/host/index.js";
import { MODULE, routeWith, settingsOf, type TestGroup } from "../module/routes.js";
import { extremes, generate, NAMESPACE } from "./generate.js";
import { decodeTree, encodeTree, type MetadataTree } from "./metadata-tree.js";
import { predict, type Prediction } from "./model.js";
import { mutate } from "./mutate.js";
import { Random } from "./random.js";

const GROUPS: TestGroup[] = [
  {
    name: "g1",
    clusters: [
      { cluster_name: "a", weight: 1 },
      { cluster_name: "b", weight: 2 },
    ],
  },
  { name: "g2", clusters: [{ cluster_name: "c", weight: 1 }] },
  {
    name: "g3",
    clusters: [
      { cluster_name: "d", weight: 3 },
      { cluster_name: "e", weight: 4294967295 },
    ],
  },
  { name: "g1", clusters: [{ cluster_name: "f", weight: 1 }] },
];
/** More than there are groups, as a retry policy may allow. */
const ATTEMPTS = 6;
const ROUTE = routeWith(
  settingsOf(GROUPS, { override_metadata_namespace: NAMESPACE, header_name: "x-pick" }, { slots: ATTEMPTS }),
);
/** Inputs that further ones are mutated from. */
const CORPUS_SIZE = 256;

export interface FuzzOptions {
  inputs: number;
  seed: number;
  /** Called now and then with the number of inputs so far. */
  onProgress?: (done: number) => void;
}

export interface FuzzReport {
  inputs: number;
  /** Inputs that are a Metadata message, for which the module must do to the letter what the specification says. */
  parsed: number;
  /** Of these, the ones whose override moved an attempt. */
  overridden: number;
  memoryBefore: number;
  memoryAfter: number;
}

/** An input on which module and specification disagree. */
export class FuzzFailure extends Error {
  constructor(input: string, what: string) {
    super(`${what}\n  input: ${input}`);
    this.name = "FuzzFailure";
  }
}

/** @throws FuzzFailure, or WasmTrapError where the module traps */
export function fuzz(options: FuzzOptions): FuzzReport {
  return new Fuzzer(options).run();
}

class Fuzzer {
  private readonly host = WasmHost.load(MODULE);
  private readonly random: Random;
  private readonly corpus: Buffer[];
  private readonly report: FuzzReport = { inputs: 0, parsed: 0, overridden: 0, memoryBefore: 0, memoryAfter: 0 };

  constructor(private readonly options: FuzzOptions) {
    this.random = new Random(options.seed);
    this.corpus = Array.from({ length: CORPUS_SIZE }, () => generate(this.random));
  }

  run(): FuzzReport {
    const { report, options } = this;
    // Twice: the second time finds the heap in the state that the first one left.
    this.checkExtremes();
    this.checkExtremes();
    report.memoryBefore = this.host.memorySize;
    while (report.inputs < options.inputs) {
      const bytes = this.next();
      this.check(bytes, bytes.toString("hex"));
      if (report.inputs % 1000 === 0) options.onProgress?.(report.inputs);
    }
    this.checkExtremes();
    report.memoryAfter = this.host.memorySize;
    return report;
  }

  private next(): Buffer {
    const fresh = generate(this.random);
    if (this.random.chance(0.4)) return fresh;
    const at = this.random.below(CORPUS_SIZE);
    const bytes = mutate(this.random, this.corpus[at] ?? fresh, fresh);
    // Mutants of mutants reach further, but must not outgrow the inputs they came from.
    if (bytes.length > 0 && bytes.length < 4096 && this.random.chance(0.3)) this.corpus[at] = bytes;
    else if (this.random.chance(0.1)) this.corpus[at] = fresh;
    return bytes;
  }

  private check(bytes: Buffer, input: string): void {
    this.report.inputs += 1;
    const tree = decodeTree(bytes);
    const random = this.random.chance(0.9)
      ? BigInt(this.random.below(12))
      : 2n ** 64n - 1n - BigInt(this.random.bits());
    this.checkNames(bytes, this.ask(bytes, random), input);
    if (tree !== undefined) this.checkExactly(tree, random, input);
  }

  private checkExtremes(): void {
    const configured = this.ask(encodeTree(NOTHING), 0n).clusters;
    for (const { name, bytes, cluster } of extremes()) {
      const expected = configured.map((own) => cluster ?? own).join();
      const found = this.ask(bytes, 0n).clusters.join();
      if (found !== expected) throw new FuzzFailure(name, `expected ${expected}, found ${found}`);
    }
  }

  /** Whatever the bytes are: each attempt has a configured cluster, or one that the bytes name. */
  private checkNames(bytes: Buffer, { clusters }: Prediction, input: string): void {
    const configured = GROUPS.flatMap((group) => group.clusters.map(({ cluster_name }) => cluster_name));
    for (const cluster of clusters) {
      if (configured.includes(cluster) || (cluster !== "" && bytes.includes(cluster, 0, "latin1"))) continue;
      throw new FuzzFailure(input, `an attempt went to ${JSON.stringify(cluster)}, which nothing names`);
    }
  }

  /** Envoy hands over the message that it parsed, written anew: there the specification rules to the letter. */
  private checkExactly(tree: MetadataTree, random: bigint, input: string): void {
    const groups = GROUPS.map(({ name, clusters }) => ({
      name,
      clusters: clusters.map((cluster) => ({ name: cluster.cluster_name, weight: Number(cluster.weight) })),
    }));
    const expected = predict(tree, NAMESPACE, groups, random, ATTEMPTS);
    const found = this.ask(encodeTree(tree), random);
    this.report.parsed += 1;
    if (expected.clusters.join() !== predict(NOTHING, NAMESPACE, groups, random, ATTEMPTS).clusters.join()) {
      this.report.overridden += 1;
    }
    const [want, got] = [expected, found].map((prediction) => JSON.stringify(prediction));
    if (want !== got) throw new FuzzFailure(input, `random ${random}: expected ${want ?? ""}, found ${got ?? ""}`);
  }

  private ask(metadata: Uint8Array, random: bigint): Prediction {
    const counter = (name: string) => Number(this.host.metrics.value(`attempt_router.${name}`) ?? 0);
    const before = [counter("override_invalid"), counter("override_group_invalid")] as const;
    const request = this.host.request({ ...ROUTE, headers: { "x-pick": String(random) }, dynamicMetadata: metadata });
    request.end();
    const state = request.filterState;
    const clusters = Array.from({ length: ATTEMPTS }, (_, i) => {
      const slot = state.get(`wasm.attempt_router.${i + 1}`);
      const group = GROUPS[Math.min(i, GROUPS.length - 1)];
      return slot === undefined ? (group?.clusters[0]?.cluster_name ?? "") : Buffer.from(slot).toString("latin1");
    });
    this.host.logs.length = 0;
    return {
      clusters,
      overrideInvalid: counter("override_invalid") - before[0],
      groupInvalid: counter("override_group_invalid") - before[1],
    };
  }
}

const NOTHING: MetadataTree = { untyped: new Map(), typed: new Map() };
