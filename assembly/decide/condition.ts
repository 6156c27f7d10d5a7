import { Bytes, View } from "../bytes";
import { ViewList } from "../view-list";
import { MetadataField, findNamespace } from "../wire/metadata";
import { ValueKind, ValueView, readField } from "../wire/value-view";
import { HeaderName, RequestView } from "./request-view";
import { TextMatch } from "./text-match";

const NOTHING = new View();
const text = new View();
const struct = new View();
const value = new ValueView();
const lines = new ViewList();
const COMMA: u8 = 0x2c;

/** Three-valued flag of a condition that may be left out. */
export enum Wanted {
  ANY,
  YES,
  NO,
}

/**
 * What must hold for a specifier to run; all that is set must hold (`attempt_router.v1.Condition`).
 *
 * Nothing is allocated, and what costs a call of the proxy is looked at after what does not.
 */
@final
export class Condition {
  routeResolved: Wanted = Wanted.ANY;
  fraction: Fraction | null = null;
  methods: StaticArray<Bytes> = new StaticArray<Bytes>(0);
  path: TextMatch | null = null;
  headers: StaticArray<HeaderMatch> = new StaticArray<HeaderMatch>(0);
  parameters: StaticArray<ParameterMatch> = new StaticArray<ParameterMatch>(0);
  metadata: StaticArray<MetadataMatch> = new StaticArray<MetadataMatch>(0);
  /** On the protocol and filter state: the last of a list. */
  attributes: AttributeMatch | null = null;
  anyOf: StaticArray<Condition> = new StaticArray<Condition>(0);
  not: Condition | null = null;

  /** `resolved`: the specifier is given a route. `seed`: the request's random value. */
  holds(request: RequestView, resolved: bool, seed: u64): bool {
    if (this.routeResolved != Wanted.ANY && (this.routeResolved == Wanted.YES) != resolved) return false;
    const fraction = this.fraction;
    if (fraction != null && !fraction.holds(seed)) return false;
    if (this.methods.length > 0 && !this.hasMethod(request.method())) return false;
    const path = this.path;
    if (path != null && !path.matches(request.path())) return false;
    if (!this.hasParameters(request) || !this.hasHeaders(request)) return false;
    if (!this.hasAttributes(request)) return false;
    return this.hasMetadata(request) && this.hasOthers(request, resolved, seed);
  }

  private hasMethod(method: View): bool {
    const methods = this.methods;
    for (let i = 0; i < methods.length; i++) {
      if (method.equals(unchecked(methods[i]))) return true;
    }
    return false;
  }

  private hasParameters(request: RequestView): bool {
    const parameters = this.parameters;
    for (let i = 0; i < parameters.length; i++) {
      if (!unchecked(parameters[i]).holds(request)) return false;
    }
    return true;
  }

  private hasHeaders(request: RequestView): bool {
    const headers = this.headers;
    for (let i = 0; i < headers.length; i++) {
      if (!unchecked(headers[i]).holds(request)) return false;
    }
    return true;
  }

  private hasAttributes(request: RequestView): bool {
    let match = this.attributes;
    while (match != null && match.holds(request)) match = match.before;
    return match == null;
  }

  private hasMetadata(request: RequestView): bool {
    const metadata = this.metadata;
    for (let i = 0; i < metadata.length; i++) {
      if (!unchecked(metadata[i]).holds(request.metadata())) return false;
    }
    return true;
  }

  private hasOthers(request: RequestView, resolved: bool, seed: u64): bool {
    const not = this.not;
    if (not != null && not.holds(request, resolved, seed)) return false;
    const anyOf = this.anyOf;
    if (anyOf.length == 0) return true;
    for (let i = 0; i < anyOf.length; i++) {
      if (unchecked(anyOf[i]).holds(request, resolved, seed)) return true;
    }
    return false;
  }
}

/** Holds for `numerator` of `denominator` requests; a numerator above it holds for all. */
@final
export class Fraction {
  constructor(
    readonly numerator: u64,
    readonly denominator: u64,
  ) {}

  holds(seed: u64): bool {
    return seed % this.denominator < this.numerator;
  }
}

/** A subset of `envoy.config.route.v3.HeaderMatcher`. */
@final
export class HeaderMatch {
  /** Without `match` the header must be present, or absent where `present` is false. */
  constructor(
    readonly name: HeaderName,
    readonly match: TextMatch | null,
    readonly present: bool,
    readonly invert: bool,
    readonly missingIsEmpty: bool,
  ) {}

  holds(request: RequestView): bool {
    const found = request.header(this.name, text);
    const match = this.match;
    // The proxy compares line by line, and one that fulfils the match is enough.
    const holds = match != null && hasComma(text) ? this.holdsForLines(request, match) : this.holdsFor(found, text);
    if (found) request.release(text);
    return holds;
  }

  private holdsForLines(request: RequestView, match: TextMatch): bool {
    request.lines(this.name, lines);
    for (let i = 0; i < lines.length; i++) {
      if (match.matches(lines.at(i))) return !this.invert;
    }
    return this.invert;
  }

  /** Whether it holds where the header was `found` with this value. */
  holdsFor(found: bool, value: View): bool {
    const match = this.match;
    if (match == null) return ((found || this.missingIsEmpty) == this.present) != this.invert;
    if (!found) return this.missingIsEmpty && match.matches(NOTHING) != this.invert;
    return match.matches(value) != this.invert;
  }
}

/** `envoy.config.route.v3.QueryParameterMatcher`; of several parameters of the name the first one counts. */
@final
export class ParameterMatch {
  /** Without `match` the parameter must be there, or not be there where `present` is false. */
  constructor(
    readonly name: Bytes,
    readonly match: TextMatch | null,
    readonly present: bool,
  ) {}

  holds(request: RequestView): bool {
    const found = request.parameter(this.name, text);
    const match = this.match;
    return match == null ? found == this.present : found && match.matches(text);
  }
}

/** An attribute of the stream by its path. */
@final
export class AttributeMatch {
  constructor(
    readonly path: Bytes,
    readonly match: TextMatch,
    /** The one before it in a list. */
    readonly before: AttributeMatch | null,
  ) {}

  holds(request: RequestView): bool {
    if (!request.attribute(this.path, text)) return false;
    const holds = this.match.matches(text);
    request.release(text);
    return holds;
  }
}

function hasComma(joined: View): bool {
  for (let i = 0; i < joined.length; i++) {
    if (joined.at(i) == COMMA) return true;
  }
  return false;
}

/** How a metadata value is compared. */
export enum ValueMatchKind {
  TEXT,
  BOOL,
  NUMBER,
  PRESENT,
}

/** A subset of `envoy.type.matcher.v3.ValueMatcher`. */
@final
export class ValueMatch {
  text: TextMatch | null = null;
  flag: bool = false;
  /** NUMBER: from `low` on and below `high`; exactly `low` where they are equal. */
  low: f64 = 0;
  high: f64 = 0;

  constructor(readonly kind: ValueMatchKind) {}

  matches(found: ValueView): bool {
    if (this.kind == ValueMatchKind.PRESENT) return isPrimitive(found) == this.flag;
    if (this.kind == ValueMatchKind.BOOL) return found.kind == ValueKind.BOOL && found.flag == this.flag;
    if (this.kind == ValueMatchKind.NUMBER) return found.kind == ValueKind.NUMBER && this.hasNumber(found.number);
    const match = this.text;
    return found.kind == ValueKind.STRING && match != null && match.matches(found.bytes);
  }

  private hasNumber(number: f64): bool {
    if (this.low == this.high) return number == this.low;
    return number >= this.low && number < this.high;
  }
}

function isPrimitive(found: ValueView): bool {
  return found.kind >= ValueKind.NULL && found.kind <= ValueKind.BOOL;
}

/** A subset of `envoy.type.matcher.v3.MetadataMatcher`, on the request's dynamic metadata. */
@final
export class MetadataMatch {
  constructor(
    readonly namespace: Bytes,
    readonly path: StaticArray<Bytes>,
    readonly match: ValueMatch,
    readonly invert: bool,
  ) {}

  holds(metadata: View): bool {
    readMetadata(metadata, this.namespace, this.path, value);
    return this.match.matches(value) != this.invert;
  }
}

/** Reads the value at `path` of a namespace of a serialized `Metadata` message; ABSENT where there is none. */
export function readMetadata(metadata: View, namespace: Bytes, path: StaticArray<Bytes>, out: ValueView): void {
  out.kind = ValueKind.ABSENT;
  if (!findNamespace(metadata, MetadataField.FILTER_METADATA, namespace, struct)) return;
  for (let i = 0; i < path.length; i++) {
    readField(struct, unchecked(path[i]), out);
    if (i == path.length - 1) return;
    if (out.kind != ValueKind.STRUCT) {
      out.kind = ValueKind.ABSENT;
      return;
    }
    struct.set(out.bytes.ptr, out.bytes.length);
  }
}
