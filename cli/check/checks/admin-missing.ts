import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";

export const adminMissing: Check = {
  code: "admin-missing",
  severity: "error",
  title: "availability by ADMIN without an admin interface",
  why: "availability: ADMIN reads the health of hosts from Envoy's admin interface: without one nothing is known, and no cluster is passed over",
  find(context) {
    if (context.program.kind !== "bootstrap" || context.program.admin?.address !== undefined) return [];
    return context.routes.flatMap(({ route, virtualHost }) =>
      [route.ownSettings, virtualHost.ownSettings].flatMap((settings) => {
        if (settings === undefined || messageOf(settings.value)["availability"] !== "ADMIN") return [];
        return [
          {
            at: settings,
            message: "availability: ADMIN in a bootstrap without admin",
            fix: "add admin: {address: ...} to the bootstrap, or use PROBE",
          },
        ];
      }),
    );
  },
};
