import type { Check } from "../check.js";

export const clientClaimsInternal: Check = {
  code: "client-claims-internal",
  severity: "warning",
  title: "clients can claim to be internal",
  why: "Requests from addresses in internal_address_config may set x-envoy-retry-on, x-envoy-max-retries and time-outs; without use_remote_address that address is what x-forwarded-for says",
  find(context) {
    return context.managers
      .filter(
        ({ internalAddressConfig, useRemoteAddress }) =>
          internalAddressConfig !== undefined && useRemoteAddress?.value !== true,
      )
      .map((manager) => ({
        at: manager.internalAddressConfig ?? manager,
        message: "internal_address_config without use_remote_address: true",
        fix: "write use_remote_address: true into the connection manager where clients connect to it directly",
      }));
  },
};
