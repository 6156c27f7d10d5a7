// Whether Envoy takes a request for one from inside, whose control headers it obeys.

import { messageOf } from "../model/json.js";
import type { ConnectionManager, Json } from "../model/index.js";
import { headerLines, type ExplainedRequest } from "./request.js";

/** An address counts as internal only where `internal_address_config` lists it. */
export function isInternal(manager: ConnectionManager | undefined, request: ExplainedRequest): boolean {
  const config = messageOf(manager?.internalAddressConfig?.value);
  const ranges = config["cidr_ranges"] ?? config["cidrRanges"];
  const address = trustedAddress(manager, request);
  return address !== undefined && Array.isArray(ranges) && ranges.some((range) => contains(range, address));
}

/** Undefined where several proxies stand before Envoy: then no request is internal. */
function trustedAddress(manager: ConnectionManager | undefined, request: ExplainedRequest): string | undefined {
  const forwarded = headerLines(request, "x-forwarded-for").flatMap((line) => line.split(","));
  if (manager?.useRemoteAddress?.value === true) return forwarded.length === 0 ? request.client : undefined;
  if (forwarded.length > 1) return undefined;
  return forwarded[0]?.trim() ?? request.client;
}

function contains(range: Json, address: string): boolean {
  const message = messageOf(range);
  const prefix = message["address_prefix"] ?? message["addressPrefix"];
  const length = Number(message["prefix_len"] ?? message["prefixLen"] ?? 0);
  const [from, at] = [ipv4(typeof prefix === "string" ? prefix : ""), ipv4(address)];
  if (from === undefined || at === undefined) return prefix === address;
  return from >> BigInt(32 - length) === at >> BigInt(32 - length);
}

function ipv4(text: string): bigint | undefined {
  const parts = text.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return undefined;
  return parts.reduce((value, part) => value * 256n + BigInt(part), 0n);
}
