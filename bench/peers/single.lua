-- What is left of pick.lua where every group has a single cluster.
function envoy_on_request(handle)
  local headers = handle:headers()
  if headers:get("x-envoy-attempt-count") then
    headers:remove("x-envoy-attempt-count")
    handle:clearRouteCache()
  end
end
