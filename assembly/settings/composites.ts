// Composite clusters: from settings to messages, and from messages to the lists that decisions are made by.

import { Bytes, encode, sameBytes } from "../bytes";
import { Candidates } from "../decide/candidates";
import { Candidate, Composite, NO_HOST } from "../decide/composite";
import { Named, NameTable } from "../decide/name-table";
import { CompositeCluster } from "../proto/attempt_router/v1/CompositeCluster";
import { ClusterEntry } from "../proto/attempt_router/v1/CompositeCluster/ClusterEntry";
import { decimal } from "../text";
import { Fields } from "./fields";

const FIELD = "composite_clusters";

/** Reads the field `composite_clusters`; the names of nested ones lead to no cycle. */
export function readComposites(fields: Fields): CompositeCluster[] {
  const values = fields.list(FIELD);
  const composites: CompositeCluster[] = [];
  for (let i = 0; i < values.length; i++) composites.push(readComposite(fields.element(FIELD, i, values[i])));
  const marks = new StaticArray<Mark>(composites.length);
  const indexes = indexesOf(composites);
  for (let i = 0; i < composites.length; i++) {
    const place = FIELD + "[" + decimal(i) + "].clusters";
    if (isCyclic(composites, i, marks, indexes))
      fields.note(place, "clusters that do not lead back to this one", "a cycle");
  }
  return composites;
}

function readComposite(fields: Fields): CompositeCluster {
  const composite = new CompositeCluster();
  composite.name = fields.requiredText("name");
  const clusters = fields.requiredList("clusters", "cluster");
  for (let i = 0; i < clusters.length; i++) {
    const cluster = fields.element("clusters", i, clusters[i]);
    composite.clusters.push(new ClusterEntry(cluster.requiredText("name")));
    cluster.finish();
  }
  composite.aggregates = fields.flag("aggregates");
  fields.finish();
  return composite;
}

enum Mark {
  NEW,
  OPEN,
  DONE,
}

function isCyclic(composites: CompositeCluster[], index: i32, marks: StaticArray<Mark>, indexes: NameTable): bool {
  if (marks[index] != Mark.NEW) return marks[index] == Mark.OPEN;
  marks[index] = Mark.OPEN;
  const clusters = composites[index].clusters;
  let cyclic = false;
  for (let i = 0; i < clusters.length && !cyclic; i++) {
    const inner = indexOf(indexes, encode(clusters[i].name));
    cyclic = inner >= 0 && isCyclic(composites, inner, marks, indexes);
  }
  marks[index] = Mark.DONE;
  return cyclic;
}

@final
class Index extends Named {
  constructor(
    name: Bytes,
    readonly index: i32,
  ) {
    super(name);
  }
}

// Where a name stands in the list, first.
function indexesOf(composites: CompositeCluster[]): NameTable {
  const table = new NameTable();
  for (let i = 0; i < composites.length; i++) {
    const name: Bytes = encode(composites[i].name);
    if (indexOf(table, name) < 0) table.add(new Index(name, i));
  }
  return table;
}

function indexOf(indexes: NameTable, name: Bytes): i32 {
  const found = indexes.find(changetype<usize>(name), name.length);
  return found != null ? changetype<Index>(found).index : -1;
}

/**
 * The lists of every attempt. Without `skip` an attempt has one cluster at most. The clusters become known to
 * `candidates`, and those that may be skipped are watched.
 */
export function compileComposites(
  messages: CompositeCluster[],
  skip: bool,
  candidates: Candidates,
): StaticArray<Composite> {
  const compiler = new Compiler(messages, skip, candidates);
  const composites = new StaticArray<Composite>(messages.length);
  for (let i = 0; i < messages.length; i++) composites[i] = compiler.compile(i);
  candidates.use(composites);
  return composites;
}

@final
class Compiler {
  private done: Array<Composite | null>;
  private indexes: NameTable;

  constructor(
    private messages: CompositeCluster[],
    private skip: bool,
    private candidates: Candidates,
  ) {
    this.done = new Array<Composite | null>(messages.length);
    this.indexes = indexesOf(messages);
  }

  /** Compiles a composite, those inside it first. */
  compile(index: i32): Composite {
    const before = this.done[index];
    if (before != null) return before;
    const message = this.messages[index];
    const attempts = new StaticArray<StaticArray<Candidate>>(message.clusters.length);
    const defaults = new StaticArray<Bytes>(attempts.length);
    for (let i = 0; i < attempts.length; i++) {
      attempts[i] = this.listFrom(message, i);
      defaults[i] = defaultOf(message, attempts[i], i + 1);
    }
    const composite = new Composite(encode(message.name), attempts, defaults, message.aggregates);
    this.done[index] = composite;
    return composite;
  }

  private listFrom(message: CompositeCluster, index: i32): StaticArray<Candidate> {
    const list: Candidate[] = [];
    const end = this.skip ? message.clusters.length : index + 1;
    for (let i = index; i < end; i++) this.addEntry(list, message.clusters[i].name, index + 1);
    return StaticArray.fromArray(list);
  }

  private addEntry(list: Candidate[], name: string, attempt: u32): void {
    const bytes: Bytes = encode(name);
    const inner = indexOf(this.indexes, bytes);
    if (inner < 0) {
      if (!sameBytes(bytes, NO_HOST)) addOnce(list, this.candidates.named(bytes));
      return;
    }
    const nested = this.compile(inner).candidates(attempt);
    for (let i = 0; i < nested.length; i++) addOnce(list, nested[i]);
  }
}

// The name of an aggregate is the one that `lower` gives it.
function defaultOf(message: CompositeCluster, list: StaticArray<Candidate>, attempt: u32): Bytes {
  if (list.length == 0) return NO_HOST;
  if (list.length == 1 || !message.aggregates) return list[0].name;
  return encode(message.name + "@ar-" + decimal(attempt));
}

function addOnce(list: Candidate[], candidate: Candidate): void {
  if (!list.includes(candidate)) list.push(candidate);
}
