import { Bytes, decode, encodeLowerCase } from "../bytes";
import { Answers, Next, Step } from "../decide/answers";
import { HeaderMatch } from "../decide/condition";
import { PriorityGroup } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/PriorityGroup";
import { RouteSettings } from "../proto/attempt_router/v1/RouteSettings";
import { decimal } from "../text";
import { readHeaderMatches } from "./condition";
import { Fields } from "./fields";
import { isHeaderName } from "./header-transforms";
import { Kind } from "./value";

const NAMED: string[] = ["NEXT", "STAY", "STOP"];
const LOWEST_STATUS: u32 = 100;
const HIGHEST_STATUS: u32 = 599;

/** Reads what settings say about answers; null where that is nothing. */
export function readAnswers(fields: Fields, settings: RouteSettings): Answers | null {
  const specifier = settings.priorityGroup;
  const groups = specifier != null ? specifier.priorityGroups : [];
  const value = fields.find("record_attempts");
  let records = false;
  let header: Bytes | null = null;
  if (value != null && value.kind == Kind.STRUCT) {
    records = true;
    header = readResponseHeader(fields.object("record_attempts")!);
  } else records = fields.flag("record_attempts");
  const items = fields.list("steps");
  const steps = new Array<Step>();
  for (let i = 0; i < items.length; i++) steps.push(readStep(fields.element("steps", i, items[i]), groups));
  const timeout = fields.whole("per_try_timeout_ms", 1, u32.MAX_VALUE);
  const least = fields.duration("min_attempt_time");
  const limit = fields.whole("timeout_ms", 1, u32.MAX_VALUE);
  if (!records && steps.length == 0 && least < 0) return null;
  const minTime = <u32>min(max(least, 0), <i64>u32.MAX_VALUE);
  const list = StaticArray.fromArray<Step>(steps);
  return new Answers(records, header, list, timeout, minTime, least > 0 ? limit : 0);
}

function readResponseHeader(fields: Fields): Bytes {
  const name = fields.requiredText("response_header");
  if (!isHeaderName(name)) fields.note("response_header", "a header name", '"' + name + '"');
  fields.finish();
  return encodeLowerCase(name);
}

function readStep(fields: Fields, groups: PriorityGroup[]): Step {
  const on = fields.object("on");
  if (on == null) fields.note("on", "what an answer must be like", "nothing");
  let statuses = new StaticArray<u32>(0);
  let classes: u32 = 0;
  let headers = new StaticArray<HeaderMatch>(0);
  if (on != null) {
    statuses = readStatuses(on);
    classes = readClasses(on);
    headers = readHeaderMatches(on, "response_headers");
    if (statuses.length + headers.length == 0 && classes == 0)
      on.note("", "statuses, status_classes or response_headers", "none");
    on.finish();
  }
  const name = fields.requiredText("next");
  const named = NAMED.indexOf(name);
  const group = named < 0 && name.length > 0 ? indexOf(groups, name) : 0;
  if (group < 0) fields.note("next", "one of NEXT, STAY, STOP, or the name of a group", '"' + name + '"');
  fields.finish();
  return new Step(statuses, classes, headers, named < 0 ? Next.GROUP : <Next>named, group);
}

function readStatuses(on: Fields): StaticArray<u32> {
  const items = on.list("statuses");
  const statuses = new StaticArray<u32>(items.length);
  for (let i = 0; i < items.length; i++) {
    statuses[i] = on.wholeElement("statuses", i, items[i], LOWEST_STATUS, HIGHEST_STATUS);
  }
  return statuses;
}

function readClasses(on: Fields): u32 {
  const texts = on.bytesList("status_classes", false);
  let classes: u32 = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i];
    const digit: u32 = text.length == 3 && text[1] == SMALL_X && text[2] == SMALL_X ? <u32>text[0] - 0x30 : 0;
    if (digit < 1 || digit > 5) {
      on.note("status_classes[" + decimal(i) + "]", "one of 1xx, 2xx, 3xx, 4xx, 5xx", '"' + decode(text) + '"');
    } else classes |= 1 << digit;
  }
  return classes;
}

const SMALL_X: u8 = 0x78;

function indexOf(groups: PriorityGroup[], name: string): i32 {
  for (let i = 0; i < groups.length; i++) {
    if (groups[i].name == name) return i;
  }
  return -1;
}
