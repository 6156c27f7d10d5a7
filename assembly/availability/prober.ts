import { Bytes, View, encode } from "../bytes";
import { Candidates } from "../decide/candidates";
import { Candidate, HostState } from "../decide/composite";
import { Host } from "../host/host";
import { getRequest } from "../wire/header-writer";
import { Counter } from "../host/counters";
import { STATUS_HEADER } from "../host/names";
import { Pace } from "./pace";
import { learnState } from "./states";

/** Where the questions go: a listener inside the proxy that picks a host of the cluster, and stops there. */
const PROBE_CLUSTER = encode("attempt_router_probe");
const CLUSTER_HEADER = encode("x-attempt-router-probe");
const ROOT = encode("/");

const DEFAULT_INTERVAL_MS: u32 = 50;
/** A question costs a worker 100 to 170 µs, so a tick asks only so many; the next one goes on from there. */
const QUESTIONS_PER_TICK = 32;
/** At rest these two keep a worker below a hundredth of its time, however many clusters are watched. */
const REST_INTERVAL_MS: u32 = 500;
const QUESTIONS_AT_REST = 20;
const TIMEOUT_MS: u32 = 1000;
/** A call whose root context was replaced is never answered. */
const DEADLINE_MS: u64 = 1500;
/** Longest time between two tries where the probe cannot be reached: a VM also runs on the main thread, which has none. */
const MAX_PAUSE_MS: u32 = 6400;

const FORBIDDEN = encode("403");
const UNAVAILABLE = encode("503");
const NO_HEALTHY_UPSTREAM = encode("no healthy upstream");
const CONNECT_ERROR = encode("upstream connect error");

const value = new View();

enum Answer {
  HAS_HOST,
  NO_HOST,
  UNDETERMINED,
  UNREACHABLE,
}

/** What is asked about a cluster, over and over. Times are in milliseconds. */
@final
class Question {
  readonly headers: Bytes;
  isOpen: bool = false;
  token: u32 = 0;
  askedAt: u64 = 0;

  constructor(
    readonly candidate: Candidate,
    public answeredAt: u64,
  ) {
    this.headers = getRequest(ROOT, PROBE_CLUSTER, CLUSTER_HEADER, candidate.name);
  }
}

/** Places for the calls that are under way, of which there are fewer at most intervals. */
const CALLS = 1 << 12;

/**
 * Asks whether the watched clusters have a host, and keeps their state. Every VM asks for itself, since every worker
 * has load balancers of its own.
 */
@final
export class Prober {
  readonly pace: Pace = new Pace();
  /** A cluster that a request needs to know about: the next tick asks, too. */
  urgent: Candidate | null = null;
  private intervalMs: u32 = DEFAULT_INTERVAL_MS;
  private questions: Array<Question> = [];
  /** The question of each call, by the last bits of its token. */
  private calls: StaticArray<Question | null> = new StaticArray<Question | null>(0);
  /** The question that the next tick begins with. */
  private next: i32 = 0;
  private now: u64 = 0;
  /** Answers that decided something since the round began. */
  private answers: i32 = 0;
  private isUnreachable: bool = false;
  private pauseMs: u32 = 0;
  private pausedUntil: u64 = 0;

  constructor(private candidates: Candidates) {}

  /** From now on it is asked so often; 0 stands for the default. What is known stays, and open calls remain unanswered. Returns the interval. */
  start(intervalMs: u32): u32 {
    this.intervalMs = intervalMs > 0 ? intervalMs : DEFAULT_INTERVAL_MS;
    for (let i = 0; i < this.questions.length; i++) this.questions[i].isOpen = false;
    this.pace.wake();
    return this.intervalMs;
  }

  /** Asks some questions. Returns the milliseconds until the next tick. */
  tick(host: Host, now: u64): u32 {
    this.now = now;
    if (this.candidates.tick(<u32>(now / 1000))) {
      this.questions = [];
      this.next = 0;
    }
    this.addQuestions();
    this.pace.tick(now);
    if (this.questions.length > 0 && !this.isPausing()) this.askSome(host);
    return this.pace.isCalm ? max(this.intervalMs, REST_INTERVAL_MS) : this.intervalMs;
  }

  /** The answer to a call; `headers` 0 means that there is none. */
  answer(host: Host, token: u32, headers: u32, bodySize: u32): void {
    const question = this.calls.length > 0 ? this.calls[token % CALLS] : null;
    if (question == null || question.token != token || !question.isOpen) return;
    question.isOpen = false;
    const answer = headers > 0 ? readAnswer(host, bodySize) : Answer.UNDETERMINED;
    if (answer == Answer.HAS_HOST || answer == Answer.NO_HOST) {
      this.answers++;
      this.isUnreachable = false;
      this.pauseMs = 0;
      question.answeredAt = this.now;
      this.learn(host, question, answer == Answer.HAS_HOST ? HostState.HAS_HOST : HostState.NO_HOST);
    } else if (answer == Answer.UNREACHABLE && this.answers == 0) this.isUnreachable = true;
    else this.learn(host, question, HostState.UNKNOWN);
  }

  private learn(host: Host, question: Question, state: HostState): void {
    if (learnState(host, question.candidate, state)) this.pace.wake();
  }

  private addQuestions(): void {
    const watched = this.candidates.watched;
    if (this.questions.length == watched.length) return;
    if (this.calls.length == 0) this.calls = new StaticArray<Question | null>(CALLS);
    for (let i = this.questions.length; i < watched.length; i++)
      this.questions.push(new Question(watched[i], this.now));
    this.pace.wake();
  }

  private isPausing(): bool {
    if (this.isUnreachable) {
      this.isUnreachable = false;
      this.pauseMs = min(MAX_PAUSE_MS, 2 * this.pauseMs + this.intervalMs);
      this.pausedUntil = this.now + this.pauseMs;
    }
    return this.now < this.pausedUntil;
  }

  private askSome(host: Host): void {
    if (this.urgent != null) this.askUrgent(host);
    if (this.next == 0) this.startRound(host);
    const count = this.questions.length;
    // A round ends with a tick, so that its answers are there when the next one begins.
    const end = min(this.next + (this.pace.isCalm ? QUESTIONS_AT_REST : QUESTIONS_PER_TICK), count);
    for (let i = this.next; i < end; i++) this.call(host, unchecked(this.questions[i]));
    this.next = end < count ? end : 0;
  }

  private askUrgent(host: Host): void {
    for (let i = 0; i < this.questions.length; i++) {
      if (this.questions[i].candidate == this.urgent) this.call(host, this.questions[i]);
    }
    this.urgent = null;
  }

  private startRound(host: Host): void {
    if (this.answers >= this.questions.length) host.increment(Counter.AVAILABILITY_ROUNDS);
    this.answers = 0;
  }

  private call(host: Host, question: Question): void {
    if (this.now - question.answeredAt > this.overdueAfter()) this.learn(host, question, HostState.UNKNOWN);
    if (question.isOpen && this.now - question.askedAt < DEADLINE_MS) return;
    question.isOpen = host.httpCall(PROBE_CLUSTER, question.headers, TIMEOUT_MS);
    question.token = host.callToken;
    question.askedAt = this.now;
    if (question.isOpen) this.calls[question.token % CALLS] = question;
    else this.learn(host, question, HostState.UNKNOWN);
  }

  // Two rounds at rest, and the time that a call may take.
  private overdueAfter(): u64 {
    const ticks = 2 * (this.questions.length / QUESTIONS_AT_REST + 1);
    return ticks * <u64>max(this.intervalMs, REST_INTERVAL_MS) + DEADLINE_MS;
  }
}

function readAnswer(host: Host, bodySize: u32): Answer {
  if (!host.callHeader(STATUS_HEADER, value)) return Answer.UNDETERMINED;
  const isForbidden = value.equals(FORBIDDEN);
  const isUnavailable = value.equals(UNAVAILABLE);
  host.release(value);
  if (isForbidden) return Answer.HAS_HOST;
  if (!isUnavailable) return Answer.UNDETERMINED;
  // Without a body the proxy knows no such cluster.
  if (bodySize == 0) return Answer.NO_HOST;
  if (!host.callBody(bodySize, value)) return Answer.UNDETERMINED;
  let answer = Answer.UNDETERMINED;
  if (value.equals(NO_HEALTHY_UPSTREAM)) answer = Answer.NO_HOST;
  else if (value.startsWith(CONNECT_ERROR)) answer = Answer.UNREACHABLE;
  host.release(value);
  return answer;
}
