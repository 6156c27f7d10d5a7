import { View } from "../bytes";
import { HeaderMap, Host } from "../host/host";
import { TransformAction, TransformReader } from "../route/header-transforms";
import { RESPONSE_KEY } from "../host/names";

const kept = new View();
const reader = new TransformReader();

/** Applies the header transforms that the request's specifiers left for the response. */
export function onDownstreamResponse(host: Host): void {
  if (!host.property(RESPONSE_KEY, kept)) return;
  applyTransforms(host, HeaderMap.RESPONSE, kept);
  host.release(kept);
}

/** Applies header transforms (see `specifiers/header-transforms.ts`) to a header map. */
export function applyTransforms(host: Host, map: i32, transforms: View): void {
  reader.reset(transforms);
  while (reader.next()) applyOne(host, map, reader);
}

function applyOne(host: Host, map: i32, one: TransformReader): void {
  const action = one.action;
  if (action == TransformAction.REMOVE) host.removeHeader(map, one.name);
  else if (action == TransformAction.APPEND_IF_EXISTS_OR_ADD) host.addHeader(map, one.name, one.value);
  else if (action == TransformAction.OVERWRITE_IF_EXISTS_OR_ADD) host.replaceHeader(map, one.name, one.value);
  else if (host.hasHeader(map, one.name)) {
    if (action == TransformAction.OVERWRITE_IF_EXISTS) host.replaceHeader(map, one.name, one.value);
  } else if (action == TransformAction.ADD_IF_ABSENT) host.addHeader(map, one.name, one.value);
}
