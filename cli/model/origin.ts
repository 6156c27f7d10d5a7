// The base of the model: values that know where they stand in the input. Nothing here, or in this folder, knows YAML.

/** A JSON value as Envoy hands it to its protobuf parser. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A message in JSON form. */
export type JsonMessage = { [key: string]: Json };

/** Where a value stands in the input. */
export interface Origin {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
  /** From the document's root, in the names that the file uses; `(document)` for the root. */
  readonly path: string;
}

/** A message of the input. */
export interface Message {
  readonly origin: Origin;
}

/** A field of a message that is set. */
export interface Value<T> extends Message {
  readonly value: T;
}

/** A length of time in milliseconds; 0 where Envoy takes 0 for "none". */
export type Duration = Value<number>;

/** A part of all requests. */
export interface Fraction extends Message {
  readonly numerator: number;
  readonly denominator: 100 | 10_000 | 1_000_000;
  /** The runtime key that can replace the fraction while Envoy runs. */
  readonly runtimeKey: Value<string> | undefined;
}
