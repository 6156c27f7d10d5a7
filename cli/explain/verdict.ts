// Whether something holds for a request, where part of the request may not be known.

/** `holds` undefined: what is given does not decide it. */
export interface Verdict {
  readonly holds: boolean | undefined;
  /** In words, with the value that decided. */
  readonly because: string;
  /** How likely it holds, 0 to 1, where only the random value of the request decides. */
  readonly probability?: number;
}

export function yes(because: string): Verdict {
  return { holds: true, because };
}

export function no(because: string): Verdict {
  return { holds: false, because };
}

export function unknown(because: string): Verdict {
  return { holds: undefined, because };
}

/** All have to hold: the first that fails decides, then the first that is not known. */
export function allOf(verdicts: readonly Verdict[], otherwise: string): Verdict {
  const failed = verdicts.find(({ holds }) => holds === false);
  if (failed !== undefined) return failed;
  const open = verdicts.filter(({ holds }) => holds === undefined);
  const [first] = open;
  if (first !== undefined) return open.find(({ probability }) => probability === undefined) ?? first;
  const reasons = verdicts.map(({ because }) => because).filter((because) => because !== "");
  return yes(reasons.join(", ") || otherwise);
}

/** One is enough. */
export function anyOf(verdicts: readonly Verdict[], otherwise: string): Verdict {
  return (
    verdicts.find(({ holds }) => holds === true) ??
    verdicts.find(({ holds }) => holds === undefined) ??
    no(verdicts.map(({ because }) => because).join(", ") || otherwise)
  );
}

export function inverted({ holds, because, probability }: Verdict, invert: boolean): Verdict {
  if (!invert) return { holds, because, ...(probability === undefined ? {} : { probability }) };
  const turned = probability === undefined ? {} : { probability: 1 - probability };
  return { holds: holds === undefined ? undefined : !holds, because, ...turned };
}
