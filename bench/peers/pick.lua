-- What the module does on a chain whose first group is 80 % a1 and 20 % a2. The matcher reads the pick from a header, the
-- only thing both can reach, so one that a client sends has to go.
function envoy_on_request(handle)
  local headers = handle:headers()
  local misled = headers:get("x-envoy-attempt-count") ~= nil
  if misled then headers:remove("x-envoy-attempt-count") end
  local other = math.random(0, 99) >= 80
  if other then headers:replace("x-slot-1", "a2") else headers:remove("x-slot-1") end
  if misled or other then handle:clearRouteCache() end
end
