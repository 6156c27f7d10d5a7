import { Bytes, NOTHING, View, encode } from "../../assembly/bytes";
import { HeldAnswer, Verdict } from "../../assembly/hold/answer";
import { JsonCondition, Rule, Shape } from "../../assembly/hold/rules";
import { HoldSettings, Until } from "../../assembly/hold/settings";
import { Framing } from "../../assembly/hold/splitter";
import { decimal } from "../../assembly/text";

/** A part of a text, as many bytes of it as an answer has room for. */
function piece(answer: HeldAnswer, bytes: Bytes, start: i32, end: i32): View {
  const view = new View();
  view.set(changetype<usize>(bytes) + <usize>start, min(end - start, answer.room));
  return view;
}

const NAMES: string[] = ["HOLD", "LET_GO", "TOO_LARGE", "ERROR", "EMPTY"];

function json(path: string[], shape: Shape, text: string = ""): JsonCondition {
  const names = new StaticArray<Bytes>(path.length);
  for (let i = 0; i < path.length; i++) names[i] = encode(path[i]);
  const condition = new JsonCondition(names, shape);
  condition.text = encode(text);
  return condition;
}

function onlyRole(path: string[]): JsonCondition {
  const condition = json(path, Shape.ONLY);
  condition.names = StaticArray.fromArray<Bytes>([encode("role")]);
  return condition;
}

function named(event: string, status: i32 = 0): Rule {
  const rule = new Rule();
  rule.event = encode(event);
  rule.status = status;
  return rule;
}

function shaped(conditions: JsonCondition[], status: i32 = 0): Rule {
  const rule = new Rule();
  rule.json = StaticArray.fromArray(conditions);
  rule.status = status;
  return rule;
}

function settings(): HoldSettings {
  const all = new HoldSettings();
  all.skipsComments = true;
  all.notContent = [
    named("ping"),
    shaped([json(["type"], Shape.TEXT, "response.created")]),
    shaped([onlyRole(["choices", "0", "delta"]), json(["choices", "0", "finish_reason"], Shape.EMPTY)]),
  ];
  all.errors = [named("error", 529), shaped([json(["error"], Shape.PRESENT)], 500)];
  all.errors[1].statusPath = StaticArray.fromArray<Bytes>([encode("error"), encode("code")]);
  all.empty = 502;
  return all;
}

/**
 * The verdict on a text that comes in pieces of `step` bytes, and after how many bytes it was known; the end is told with the last
 * piece, or does not come where `isOpen`.
 */
function judge(rules: HoldSettings, text: string, framing: Framing, step: i32, isOpen: bool = false): string {
  const bytes = encode(text);
  const answer = new HeldAnswer(rules, framing, rules.errorsOf(NOTHING, framing != Framing.NONE));
  let verdict = Verdict.HOLD;
  let size = 0;
  while (verdict == Verdict.HOLD && size < bytes.length) {
    const end = min(size + step, bytes.length);
    verdict = answer.look(piece(answer, bytes, size, end), end - size, end == bytes.length && !isOpen);
    size = end;
  }
  if (bytes.length == 0 && !isOpen) verdict = answer.look(piece(answer, bytes, 0, 0), 0, true);
  answer.release();
  const status = answer.status > 0 ? " " + decimal(answer.status) : "";
  return NAMES[verdict] + status + (verdict == Verdict.LET_GO && step == 1 ? " at " + decimal(size) : "");
}

/** The same verdict for every way to cut the text in pieces. */
function always(expected: string, rules: HoldSettings, text: string, framing: Framing = Framing.LINES): void {
  for (let step = 2; step <= encode(text).length + 1; step++) {
    expect(judge(rules, text, framing, step)).toBe(expected, decimal(step));
  }
}

const ROLE = 'data: {"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n';
const CONTENT = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';

describe("a stream of events", () => {
  test("is let go with the first content", () => {
    always("LET_GO", settings(), ": ping\n\nevent: ping\ndata: {}\n\n" + ROLE + CONTENT + CONTENT);
    always("LET_GO", settings(), "data: hello\n\n");
    always("LET_GO", settings(), "\ufeffdata: hello\r\n\r\n");
  });

  test("is let go with the end of the event that is content, and not sooner", () => {
    expect(judge(settings(), ROLE + CONTENT + CONTENT, Framing.LINES, 1)).toBe(
      "LET_GO at " + decimal(ROLE.length + CONTENT.length),
    );
  });

  test("is an error, with the status of the error", () => {
    always("ERROR 529", settings(), "event: error\ndata: overloaded\n\n");
    always("ERROR 529", settings(), "event: error\n\n");
    always("ERROR 529", settings(), ROLE + "event: error\r\ndata: overloaded\r\n\r\n" + CONTENT);
    always("ERROR 500", settings(), 'data: {"error":{"message":"m"}}\n\n');
    always("ERROR 503", settings(), 'data: {"error":\ndata: {"code":503}}\n\n');
    always("ERROR 500", settings(), 'data: {"error":{"code":200}}\n\n');
    always("ERROR 429", settings(), 'data: {"error":{"code":"429"}}');
  });

  test("is no error any more once there was content", () => {
    always("LET_GO", settings(), CONTENT + "event: error\ndata: overloaded\n\n");
  });

  test("that ends without content is empty", () => {
    always("EMPTY 502", settings(), "");
    always("EMPTY 502", settings(), "\n\n");
    always("EMPTY 502", settings(), ": ping\n\n: ping\n\n");
    always("EMPTY 502", settings(), ROLE);
    always("EMPTY 502", settings(), "id: 1\nretry: 10\n\ndata:\n\n");
    always("EMPTY 502", settings(), "event: other\n\n");
  });

  test("that ends without content is let go where nothing is said of that", () => {
    const rules = settings();
    rules.empty = 0;
    always("LET_GO", rules, ROLE);
  });

  test("that ends within an event is judged by it", () => {
    always("LET_GO", settings(), "data: half");
    always("ERROR 529", settings(), "event: error\ndata: half");
  });

  test("is held as long as nothing came that counts", () => {
    expect(judge(settings(), ": ping\n\n" + ROLE + "data: {", Framing.LINES, 3, true)).toBe("HOLD");
  });

  test("is let go past the limit", () => {
    const rules = settings();
    rules.maxBytes = 20;
    expect(judge(rules, ": ping\n\n: ping\n\n: ping\n\n", Framing.LINES, 1, true)).toBe("TOO_LARGE");
    expect(judge(rules, ": ping\n\n: ping\n\n: ping\n\n", Framing.LINES, 99)).toBe("TOO_LARGE");
    expect(judge(rules, ": ping\n\n: ping\n\n", Framing.LINES, 99)).toBe("EMPTY 502");
    // What comes behind the limit is not looked at.
    expect(judge(rules, ": ping\n\n: ping\n\nevent: error\n\n", Framing.LINES, 99)).toBe("TOO_LARGE");
  });

  test("that has data which is no JSON is content", () => {
    always("LET_GO", settings(), "data: [DONE]\n\n");
    always("LET_GO", settings(), 'data: {"error":\n\n');
  });

  test("comments count where nothing is said of them", () => {
    const rules = settings();
    rules.skipsComments = false;
    always("LET_GO", rules, ": ping\n\n" + "event: error\n\n");
  });

  test("has names without a space, and data by that name is a message", () => {
    always("ERROR 529", settings(), "event:error\ndata:x\n\n");
    const rules = settings();
    rules.errors = [named("message", 418)];
    always("ERROR 418", rules, "data: x\n\n");
    always("EMPTY 502", rules, "event: other\n\n");
  });

  test("may turn out to be JSON", () => {
    always("ERROR 500", settings(), '{"error":{"message":"down"}}');
    always("LET_GO", settings(), '{"choices":[]}');
  });
});

describe("until the first bytes", () => {
  test("errors count in the first event only", () => {
    const rules = settings();
    rules.until = Until.FIRST_BYTES;
    always("ERROR 529", rules, "event: error\ndata: x\n\n");
    always("LET_GO", rules, ": ping\n\nevent: error\ndata: x\n\n");
    always("EMPTY 502", rules, "");
  });

  test("without errors, the first byte is enough", () => {
    const rules = settings();
    rules.until = Until.FIRST_BYTES;
    rules.errors = [];
    expect(judge(rules, ": ping", Framing.LINES, 1)).toBe("LET_GO at 1");
  });
});

describe("JSON", () => {
  test("with an error is one", () => {
    always("ERROR 500", settings(), '{"error":{"message":"down"}}', Framing.JSON);
    always("ERROR 503", settings(), '[{"error":{"code":503,"message":"down"}}\n]', Framing.JSON);
  });

  test("without an error is let go with its end", () => {
    always("LET_GO", settings(), '{"error":null,"id":1}\n', Framing.JSON);
    expect(judge(settings(), '[{"id":1},{"id":2}]', Framing.JSON, 1)).toBe("LET_GO at 9");
  });

  test("that is cut off is let go", () => {
    always("LET_GO", settings(), '{"error":{"message":', Framing.JSON);
  });

  test("without anything in it is empty", () => {
    always("EMPTY 502", settings(), "", Framing.JSON);
    always("EMPTY 502", settings(), " [ ] ", Framing.JSON);
  });
});

describe("other answers", () => {
  test("are let go with the first byte", () => {
    expect(judge(settings(), "hello", Framing.NONE, 1)).toBe("LET_GO at 1");
    always("EMPTY 502", settings(), "", Framing.NONE);
  });

  test("are held for the texts of errors of their type", () => {
    const rules = settings();
    rules.errors = [new Rule()];
    rules.errors[0].text = encode("busy");
    rules.errors[0].status = 503;
    rules.errors[0].contentType = encode("text/plain");
    const answer = new HeldAnswer(rules, Framing.NONE, rules.errorsOf(encode("text/plain"), false));
    const bytes = encode("we are busy now");
    expect(answer.look(piece(answer, bytes, 0, 5), 5, false)).toBe(Verdict.HOLD);
    expect(answer.look(piece(answer, bytes, 5, 15), 10, true)).toBe(Verdict.ERROR);
    expect(answer.status).toBe(503);
    const other = new HeldAnswer(rules, Framing.NONE, rules.errorsOf(encode("text/html"), false));
    expect(other.look(piece(other, bytes, 0, 5), 5, false)).toBe(Verdict.LET_GO);
    rules.maxBytes = 6;
    const large = new HeldAnswer(rules, Framing.NONE, rules.errorsOf(encode("text/plain"), false));
    expect(large.look(piece(large, bytes, 0, 15), 15, false)).toBe(Verdict.LET_GO);
  });
});
