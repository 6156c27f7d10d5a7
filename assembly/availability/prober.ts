import { Bytes, View, encode } from "../bytes";
import { Candidates } from "../decide/candidates";
import { Candidate, HostState } from "../decide/composite";
import { Host } from "../host/host";
import { getRequest } from "../wire/header-writer";
import { Counter } from "../host/counters";
import { STATUS_HEADER } from "../host/names";
import { learnState } from "./states";

/** Where the questions go: a listener inside the proxy that picks a host of the cluster, and stops there. */
const PROBE_CLUSTER = encode("attempt_router_probe");
const CLUSTER_HEADER = encode("x-attempt-router-probe");
const ROOT = encode("/");

const DEFAULT_INTERVAL_MS: u32 = 50;
/** While no cluster is watched, this often it is looked whether one is. */
const IDLE_INTERVAL_MS: u32 = 1000;
/** A question costs a worker 100 to 170 µs, so a tick asks only so many; the next one goes on from there. */
const QUESTIONS_PER_TICK = 32;
const TIMEOUT_MS: u32 = 1000;
/** A call whose root context was replaced is never answered. */
const DEADLINE_MS: u32 = 1500;
/** Ticks between two tries where the probe cannot be reached: a VM also runs on the main thread, which has none. */
const MAX_PAUSE: u32 = 128;

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

/** What is asked about a cluster, over and over. Times are ticks. */
@final
class Question {
  readonly headers: Bytes;
  isOpen: bool = false;
  token: u32 = 0;
  askedAt: u32 = 0;
  answeredAt: u32 = 0;

  constructor(readonly candidate: Candidate) {
    this.headers = getRequest(ROOT, PROBE_CLUSTER, CLUSTER_HEADER, candidate.name);
  }
}

/**
 * Asks whether the watched clusters have a host, and keeps their state. Every VM asks for itself, since every worker
 * has load balancers of its own; in a VM the root context of the newest configuration asks.
 */
@final
export class Prober {
  private root: u32 = 0;
  private intervalMs: u32 = DEFAULT_INTERVAL_MS;
  private isActive: bool = false;
  private questions: Array<Question> = [];
  /** The question that the next tick begins with. */
  private next: i32 = 0;
  private now: u32 = 0;
  /** Answers that decided something since the round began. */
  private answers: i32 = 0;
  /** The question that was answered last; the next answer is most likely that of the next one. */
  private latest: i32 = 0;
  private isUnreachable: bool = false;
  private pause: u32 = 0;
  private pauseLeft: u32 = 0;

  constructor(private candidates: Candidates) {}

  /** From now on `root` asks; 0 ends it. What is known stays, and what an earlier root context asked remains unanswered. */
  take(host: Host, root: u32, intervalMs: u32): void {
    this.root = root;
    if (root == 0) return;
    this.intervalMs = intervalMs > 0 ? intervalMs : DEFAULT_INTERVAL_MS;
    for (let i = 0; i < this.questions.length; i++) this.questions[i].isOpen = false;
    this.isActive = this.candidates.watched.length > 0;
    host.setTickPeriod(this.isActive ? this.intervalMs : IDLE_INTERVAL_MS);
  }

  tick(host: Host, root: u32): void {
    if (root != this.root) {
      host.setTickPeriod(0);
      return;
    }
    this.now++;
    this.addQuestions(host);
    if (this.questions.length > 0 && !this.isPausing()) this.askSome(host);
  }

  /** The answer to a call; `headers` 0 means that there is none. */
  answer(host: Host, token: u32, headers: u32, bodySize: u32): void {
    const question = this.find(token);
    if (question == null) return;
    question.isOpen = false;
    const answer = headers > 0 ? readAnswer(host, bodySize) : Answer.UNDETERMINED;
    if (answer == Answer.HAS_HOST || answer == Answer.NO_HOST) {
      this.answers++;
      this.isUnreachable = false;
      this.pause = 0;
      question.answeredAt = this.now;
      learnState(host, question.candidate, answer == Answer.HAS_HOST ? HostState.HAS_HOST : HostState.NO_HOST);
    } else if (answer == Answer.UNREACHABLE && this.answers == 0) this.isUnreachable = true;
    else learnState(host, question.candidate, HostState.UNKNOWN);
  }

  private addQuestions(host: Host): void {
    const watched = this.candidates.watched;
    for (let i = this.questions.length; i < watched.length; i++) this.questions.push(new Question(watched[i]));
    if (this.isActive || watched.length == 0) return;
    this.isActive = true;
    host.setTickPeriod(this.intervalMs);
  }

  private isPausing(): bool {
    if (this.isUnreachable) {
      this.isUnreachable = false;
      this.pause = min(MAX_PAUSE, 2 * this.pause + 1);
      this.pauseLeft = this.pause;
    }
    if (this.pauseLeft == 0) return false;
    this.pauseLeft--;
    return true;
  }

  private askSome(host: Host): void {
    if (this.next == 0) this.startRound(host);
    const count = this.questions.length;
    // A round ends with a tick, so that its answers are there when the next one begins.
    const end = min(this.next + QUESTIONS_PER_TICK, count);
    for (let i = this.next; i < end; i++) this.ask(host, unchecked(this.questions[i]));
    this.next = end < count ? end : 0;
  }

  private startRound(host: Host): void {
    if (this.answers >= this.questions.length) host.increment(Counter.AVAILABILITY_ROUNDS);
    this.answers = 0;
  }

  private ask(host: Host, question: Question): void {
    if (this.now - question.answeredAt > this.overdueAfter()) learnState(host, question.candidate, HostState.UNKNOWN);
    if (question.isOpen && this.now - question.askedAt < DEADLINE_MS / this.intervalMs + 1) return;
    question.isOpen = host.httpCall(PROBE_CLUSTER, question.headers, TIMEOUT_MS);
    question.token = host.callToken;
    question.askedAt = this.now;
    if (!question.isOpen) learnState(host, question.candidate, HostState.UNKNOWN);
  }

  // Two rounds, and the time that a call may take.
  private overdueAfter(): u32 {
    return 2 * (this.questions.length / QUESTIONS_PER_TICK + 1) + DEADLINE_MS / this.intervalMs + 1;
  }

  private find(token: u32): Question | null {
    const count = this.questions.length;
    for (let i = 1; i <= count; i++) {
      const index = (this.latest + i) % count;
      const question = unchecked(this.questions[index]);
      if (question.token != token || !question.isOpen) continue;
      this.latest = index;
      return question;
    }
    return null;
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
