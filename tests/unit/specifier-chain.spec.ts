import { Bytes, View, decode, encode } from "../../assembly/bytes";
import { SpecifierChain, SpecifierStep } from "../../assembly/route/specifier-chain";
import { RequestView } from "../../assembly/decide/request-view";
import { AwaitedResponses } from "../../assembly/roles/awaited-responses";
import { Role } from "../../assembly/roles/role";
import { HostRequest } from "../../assembly/roles/host-request";
import { FakeHost } from "../../assembly/host/fake";
import { TransformAction, TransformReader, transform } from "../../assembly/route/header-transforms";
import { BaseRoute, Route, wrap } from "../../assembly/route/route";
import { OnRouteResult, RouteSpecifier, apply, pass, stop } from "../../assembly/route/specifier";

let trace = "";

/** Notes what it was given and overrides the cluster; 0 applies, 1 stops, 2 passes, 3 drops. */
class Traced extends RouteSpecifier {
  constructor(
    private tag: string,
    private kind: i32,
  ) {
    super();
  }

  onRoute(route: Route | null, request: RequestView, seed: u64): OnRouteResult {
    const cluster: Bytes | null = route != null ? route.cluster : null;
    trace += this.tag + "(" + (route == null ? "null" : cluster != null ? decode(cluster) : "given") + ")";
    if (this.kind == 2) return pass(route);
    if (this.kind == 3 || route == null) return apply(null);
    const result = wrap(route);
    result.setCluster(encode(this.tag));
    return this.kind == 1 ? stop(result) : apply(result);
  }
}

const EMPTY: Bytes = new StaticArray<u8>(0);
const given = new BaseRoute(EMPTY, EMPTY, true, EMPTY, null);

function run(kinds: i32[], finals: bool[], route: Route | null = given): Route | null {
  const steps: SpecifierStep[] = [];
  for (let i = 0; i < kinds.length; i++) {
    steps.push(new SpecifierStep(new Traced("s" + i.toString(), kinds[i]), null, finals[i]));
  }
  trace = "";
  return new SpecifierChain(StaticArray.fromArray<SpecifierStep>(steps)).run(route, new HostRequest(new FakeHost()), 0);
}

describe("a chain", () => {
  test("hands the output of each specifier to the next", () => {
    const route = run([0, 0, 0], [false, false, false])!;
    expect(trace).toBe("s0(given)s1(s0)s2(s1)");
    expect(decode(route.cluster!)).toBe("s2");
  });

  test("hands on no route", () => {
    expect(run([3, 2, 0], [false, false, false]) == null).toBe(true);
    expect(trace).toBe("s0(given)s1(null)s2(null)");
  });

  test("begins with no route where none was resolved", () => {
    run([2], [false], null);
    expect(trace).toBe("s0(null)");
  });

  test("ends where a specifier says so, or applied and is final", () => {
    run([0, 1, 0], [false, false, false]);
    expect(trace).toBe("s0(given)s1(s0)");
    run([0, 0], [true, false]);
    expect(trace).toBe("s0(given)");
    run([2, 0], [true, false]);
    expect(trace).toBe("s0(given)s1(given)");
  });

  test("of no specifiers gives the route it was given", () => {
    expect(run([], []) === given).toBe(true);
  });
});

describe("header transforms", () => {
  test("are read back in order, and bytes that are none end them", () => {
    const first = transform(TransformAction.REMOVE, encode("x-a"), EMPTY);
    const bytes = first.concat<Bytes>(transform(TransformAction.ADD_IF_ABSENT, encode("x-b"), encode("v")));
    const reader = new TransformReader();
    const view = new View();
    for (let length = 0; length <= bytes.length; length++) {
      view.set(changetype<usize>(bytes), length);
      reader.reset(view);
      let count = 0;
      while (reader.next()) count++;
      expect(count).toBe(length < first.length ? 0 : length < bytes.length ? 1 : 2);
    }
    reader.reset(view);
    reader.next();
    reader.next();
    expect(decode(reader.name.copy()) + "=" + decode(reader.value.copy())).toBe("x-b=v");
  });
});

describe("awaited responses", () => {
  test("are those of the contexts that were marked, with their role", () => {
    const responses = new AwaitedResponses();
    for (let context = 5; context < 40; context++) responses.begin(context);
    responses.expect(5, Role.DOWNSTREAM);
    responses.expect(6, Role.UPSTREAM);
    responses.expect(37, Role.UPSTREAM);
    expect(responses.awaiting(5)).toBe(Role.DOWNSTREAM);
    expect(responses.awaiting(6)).toBe(Role.UPSTREAM);
    expect(responses.awaiting(37)).toBe(Role.UPSTREAM);
    for (let context = 7; context < 37; context++) expect(responses.awaiting(context)).toBe(Role.UNKNOWN);
  });

  test("a new context takes the bits of one that is forgotten", () => {
    const responses = new AwaitedResponses();
    responses.begin(5);
    responses.expect(5, Role.UPSTREAM);
    responses.begin(5 + 65536);
    expect(responses.awaiting(5 + 65536)).toBe(Role.UNKNOWN);
    expect(responses.isForgotten(5)).toBe(true);
    expect(responses.isForgotten(6)).toBe(false);
  });
});
