// The module with the specifier of this folder: build it as docs/writing-a-route-specifier.md says.

import { registerSpecifier } from "../../assembly/specifiers/registry";
import { TenantTableType } from "./tenant-table";

export * from "../../assembly/index";

registerSpecifier(new TenantTableType());
