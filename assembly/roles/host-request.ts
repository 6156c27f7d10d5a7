import { ByteBuffer } from "../byte-buffer";
import { Bytes, NOTHING, View } from "../bytes";
import { ViewList } from "../view-list";
import { readLines } from "../wire/header-pairs";
import { Plan } from "../decide/plan";
import { findQueryParameter } from "../decide/hash-policy";
import { HeaderName, RequestView } from "../decide/request-view";
import { Host, LogLevel } from "../host/host";
import { SUFFIX_LENGTH, SettingsId } from "../settings/settings-id";
import { TransformAction, transform } from "../route/header-transforms";
import { KnownValues, Reading } from "./known-values";
import { CLUSTER_NAME, DYNAMIC_METADATA, METHOD_HEADER, PATH_HEADER, VIRTUAL_HOST_NAME } from "../host/names";
import { randomValue } from "./random-value";
import { decideAttempt, finishDecision, startDecision } from "./request";

const QUESTION_MARK: u8 = 0x3f;
const HASH: u8 = 0x23;
const id = new SettingsId();

/**
 * The request that the proxy calls the module for, as its specifiers see it. What they ask for is read when it is first
 * asked for and kept until `finish`.
 */
@final
export class HostRequest extends RequestView {
  /** Headers that specifiers added to the response. */
  readonly responseHeaders: ByteBuffer = new ByteBuffer();

  private plan: Plan | null = null;
  private seed: u64 = 0;
  private hasPath: bool = false;
  private hasMethod: bool = false;
  private hasPairs: bool = false;
  private values: KnownValues = new KnownValues();
  private lentPath: View = new View();
  private pathOnly: View = new View();
  private lentMethod: View = new View();
  private metadataView: View = new View();
  private lentPairs: View = new View();
  private other: View = new View();

  constructor(private host: Host) {
    super();
  }

  /** Begins with a request on a route, or in a virtual host, that has this plan. */
  start(host: Host, plan: Plan, seed: u64): void {
    this.host = host;
    this.plan = plan;
    this.seed = seed;
    this.hasPath = false;
    this.hasMethod = false;
    this.hasPairs = false;
    this.responseHeaders.clear();
  }

  /** Hands back what was read. */
  finish(): void {
    this.giveBack(this.lentPath);
    this.giveBack(this.lentMethod);
    this.giveBack(this.lentPairs);
    this.values.clear(this.host);
    this.pathOnly.set(0, 0);
  }

  attribute(path: Bytes, out: View): bool {
    return this.values.read(this.host, path, Reading.ATTRIBUTE, out);
  }

  firstLine(name: HeaderName, out: View): bool {
    return this.values.read(this.host, name.name, Reading.FIRST_LINE, out);
  }

  lines(name: HeaderName, out: ViewList): void {
    if (!this.hasPairs) {
      this.hasPairs = true;
      this.host.requestHeaders(this.lentPairs);
    }
    readLines(this.lentPairs, name.name, out);
  }

  // Its value may be asked for again.
  release(view: View): void {
    view.set(0, 0);
  }

  path(): View {
    if (!this.hasPath) {
      this.hasPath = true;
      if (this.host.requestHeader(PATH_HEADER, this.lentPath)) this.cutPath();
    }
    return this.pathOnly;
  }

  parameter(name: Bytes, out: View): bool {
    this.path();
    return findQueryParameter(this.lentPath, name, out);
  }

  method(): View {
    if (!this.hasMethod) {
      this.hasMethod = true;
      this.host.requestHeader(METHOD_HEADER, this.lentMethod);
    }
    return this.lentMethod;
  }

  metadata(): View {
    this.attribute(DYNAMIC_METADATA, this.metadataView);
    return this.metadataView;
  }

  virtualHost(): Bytes {
    const name = this.other;
    if (!this.host.property(VIRTUAL_HOST_NAME, name)) return NOTHING;
    const marked = id.read(name);
    const full = name.copy();
    this.host.release(name);
    return marked ? full.slice<Bytes>(0, full.length - SUFFIX_LENGTH) : full;
  }

  resolvedCluster(): Bytes {
    const plan = this.plan;
    return plan != null && plan.hasGroups ? this.pickedCluster(plan) : this.currentCluster();
  }

  log(message: Bytes): void {
    this.host.log(LogLevel.INFO, String.UTF8.decodeUnsafe(changetype<usize>(message), message.length));
  }

  count(name: Bytes): void {
    this.host.incrementNamed(name);
  }

  addResponseHeader(name: Bytes, value: Bytes): void {
    this.responseHeaders.add(transform(TransformAction.APPEND_IF_EXISTS_OR_ADD, name, value));
  }

  // What the route's own plan picks for attempt 1; it is written only after the chain.
  private pickedCluster(plan: Plan): Bytes {
    const decision = startDecision(this.host, plan);
    decision.random = randomValue(this.host, plan, this.seed);
    decideAttempt(this.host, decision, 1, this.other);
    const cluster = this.other.copy();
    this.other.set(0, 0);
    finishDecision(this.host);
    return cluster;
  }

  private currentCluster(): Bytes {
    if (!this.host.property(CLUSTER_NAME, this.other)) return NOTHING;
    const cluster = this.other.copy();
    this.host.release(this.other);
    return cluster;
  }

  private cutPath(): void {
    const path = this.lentPath;
    let end = 0;
    while (end < path.length && path.at(end) != QUESTION_MARK && path.at(end) != HASH) end++;
    this.pathOnly.set(path.ptr, end);
  }

  private giveBack(view: View): void {
    if (view.ptr != 0) this.host.release(view);
  }
}
