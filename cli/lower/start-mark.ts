// A client may send x-envoy-attempt-count, and the matcher would take it for the router's. So where it can, `lower` lets the
// matcher look at the header only once a stock filter, the last before the router, has written filter state: the first
// resolution of the route, and every other one before the router begins, is then that of attempt 1, whatever the header
// says. The filter's work is in each route's own configuration: looking for it makes Envoy resolve the route before the
// mark is there, should an earlier filter have cleared it.

import type { Json } from "../yaml/scalar.js";
import { STARTED_FILTER, STARTED_KEY, TYPE } from "./types.js";

/** What filter state `attempt_router.started` holds once the router has the request. */
export const STARTED = "1";

/** The filter, which does nothing by itself; `disabled` where each request keeps the route that it began with. */
export function startedFilter(disabled: boolean): Json {
  return {
    name: STARTED_FILTER,
    ...(disabled ? { disabled } : {}),
    typed_config: { "@type": TYPE.setFilterState },
  };
}

/** A route's own configuration of the filter. It lives as long as the stream: an internal redirect begins without. */
export function startMark(): { [key: string]: Json } {
  const format_string = { text_format_source: { inline_string: STARTED } };
  const mark = { object_key: STARTED_KEY, factory_key: "envoy.string", format_string };
  return { [STARTED_FILTER]: { "@type": TYPE.setFilterState, on_request_headers: [mark] } };
}
