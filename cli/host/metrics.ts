import { METRIC_TYPES, WasmResult, type MetricType } from "./abi.js";

interface Metric {
  name: string;
  type: MetricType;
  value: bigint;
  samples: bigint[];
}

/** Counters, gauges and histograms of a VM. Metrics of the same type and name share their value, as in Envoy. */
export class Metrics {
  private readonly byId = new Map<number, Metric>();
  private readonly byName = new Map<string, Metric>();
  private readonly lastId = [0, 1, 2];

  define(typeNumber: number, name: string): number | undefined {
    const type = METRIC_TYPES[typeNumber];
    const last = this.lastId[typeNumber];
    if (type === undefined || last === undefined) return undefined;
    const key = `${type} ${name}`;
    const metric = this.byName.get(key) ?? { name, type, value: 0n, samples: [] };
    this.byName.set(key, metric);
    const id = last + 4;
    this.lastId[typeNumber] = id;
    this.byId.set(id, metric);
    return id;
  }

  increment(id: number, offset: bigint): WasmResult {
    const type = METRIC_TYPES[id & 3];
    if (type !== "counter" && type !== "gauge") return WasmResult.BadArgument;
    const metric = this.byId.get(id);
    if (metric === undefined) return WasmResult.NotFound;
    if (type === "counter" && offset <= 0n) return WasmResult.BadArgument;
    metric.value = BigInt.asUintN(64, metric.value + offset);
    return WasmResult.Ok;
  }

  record(id: number, value: bigint): WasmResult {
    const metric = this.byId.get(id);
    if (metric === undefined) return WasmResult.NotFound;
    const amount = BigInt.asUintN(64, value);
    if (metric.type === "counter") metric.value = BigInt.asUintN(64, metric.value + amount);
    else if (metric.type === "gauge") metric.value = amount;
    else metric.samples.push(amount);
    return WasmResult.Ok;
  }

  read(id: number): bigint | WasmResult {
    const type = METRIC_TYPES[id & 3];
    if (type !== "counter" && type !== "gauge") return WasmResult.BadArgument;
    return this.byId.get(id)?.value ?? WasmResult.NotFound;
  }

  /** Value of a counter or gauge by name; undefined when it was never defined. */
  value(name: string): bigint | undefined {
    return (this.byName.get(`counter ${name}`) ?? this.byName.get(`gauge ${name}`))?.value;
  }

  /** Values of all counters and gauges by name. */
  values(): Record<string, bigint> {
    const scalars = [...this.byName.values()].filter((metric) => metric.type !== "histogram");
    return Object.fromEntries(scalars.map((metric) => [metric.name, metric.value]));
  }

  samples(name: string): readonly bigint[] {
    return this.byName.get(`histogram ${name}`)?.samples ?? [];
  }
}
