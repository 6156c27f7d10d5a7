// The only place that names the host-call declarations of the SDK, and the one import it lacks.

export {
  proxy_add_header_map_value,
  proxy_call_foreign_function,
  proxy_define_metric,
  proxy_get_buffer_bytes,
  proxy_get_current_time_nanoseconds,
  proxy_get_header_map_pairs,
  proxy_get_header_map_value,
  proxy_get_property,
  proxy_get_shared_data,
  proxy_http_call,
  proxy_increment_metric,
  proxy_log,
  proxy_remove_header_map_value,
  proxy_replace_header_map_value,
  proxy_set_property,
  proxy_set_shared_data,
  proxy_set_tick_period_milliseconds,
} from "@solo-io/proxy-runtime/assembly/imports";

// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "random_get")
export declare function random_get(ptr: usize, size: usize): u32;
