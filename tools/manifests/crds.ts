// The definitions of the resources that `attempt-router serve` reads, with as much of its rules as a schema can say.

import type { Json } from "../../cli/yaml/scalar.js";

/** For values whose rules are the module's: Kubernetes keeps them as they are. */
const ANYTHING = { "x-kubernetes-preserve-unknown-fields": true };
const NAME = { type: "string", minLength: 1, maxLength: 253 };

const BACKEND = {
  type: "object",
  description:
    "A cluster: by its backend, which needs mergeBackends, or by a rule of an HTTPRoute that leads to it alone.",
  properties: {
    name: { ...NAME, description: "A Service or Backend of this namespace." },
    kind: { ...NAME, description: "Its kind, where several have the name." },
    port: { type: "integer", minimum: 1, maximum: 65535, description: "Its port, where several are used." },
    route: { ...NAME, description: "An HTTPRoute of this namespace." },
    rule: { ...NAME, description: "The name of its rule, where it has several." },
    weight: { type: "integer", minimum: 0, maximum: 4294967295, default: 1 },
  },
  "x-kubernetes-validations": [
    { rule: "has(self.name) != has(self.route)", message: "name or route is expected, not both" },
    { rule: "has(self.route) || !has(self.rule)", message: "rule goes with route" },
    { rule: "has(self.name) || !(has(self.kind) || has(self.port))", message: "kind and port go with name" },
  ],
};

const SPEC = {
  groups: {
    type: "array",
    minItems: 1,
    maxItems: 64,
    description: "The priority groups: attempt n takes group n, and attempts beyond the last take the last.",
    items: {
      type: "object",
      required: ["name", "backends"],
      properties: { name: NAME, backends: { type: "array", minItems: 1, maxItems: 64, items: BACKEND } },
    },
  },
  retry: {
    type: "object",
    description: "Envoy's RetryPolicy. Without it, the one of the BackendTrafficPolicy stays.",
    ...ANYTHING,
  },
  header_name: { type: "string", description: "The header whose value picks in a group." },
  use_hash_policy: { type: "boolean", description: "The route's hash policies pick in a group." },
  override_metadata_namespace: {
    type: "string",
    description: "Where a filter writes groups for one request. They may name the clusters of these groups only.",
  },
};

/** @param settings The settings of a route's metadata. */
function definition(kind: string, plural: string, targets: Record<string, Json>, settings: readonly string[]): Json {
  const properties = { ...targets, ...SPEC, ...Object.fromEntries(settings.map((name) => [name, ANYTHING])) };
  const rule = "!(has(self.header_name) && has(self.use_hash_policy))";
  const spec = {
    type: "object",
    required: ["groups", ...Object.keys(targets)],
    properties,
    "x-kubernetes-validations": [{ rule, message: "header_name or use_hash_policy is expected, not both" }],
  };
  const schema = {
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec,
      // Envoy Gateway writes it.
      status: { type: "object", ...ANYTHING },
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.attempt-router.dev` },
    spec: {
      group: "attempt-router.dev",
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: "v1alpha1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
        },
      ],
    },
  } as Json;
}

const TARGET = {
  type: "object",
  required: ["group", "kind", "name"],
  properties: {
    group: { type: "string", enum: ["gateway.networking.k8s.io"] },
    kind: { type: "string", enum: ["HTTPRoute", "GRPCRoute"] },
    name: NAME,
    sectionName: { ...NAME, description: "The name of a rule; all rules without it." },
  },
};

export function definitions(settings: readonly string[]): Json[] {
  const targets = { targetRefs: { type: "array", minItems: 1, maxItems: 16, items: TARGET } };
  return [
    definition("PriorityGroups", "prioritygroups", targets as Record<string, Json>, settings),
    definition("PriorityGroupsFilter", "prioritygroupsfilters", {}, settings),
  ];
}
