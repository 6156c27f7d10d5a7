import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { CONTROLLER, type Manifest } from "./envoy-gateway.js";
import type { ServeProcess } from "./serve-process.js";

/** The port of the listener `http`. */
export const PORT = 8888;
const DOCS = new URL("../../docs/control-planes/", import.meta.url);

/** The documents of a file below docs/control-planes. */
export function documented(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(new URL(file, DOCS), "utf8")).map((document) => document.toJS() as Manifest);
}

/** The extension manager of the docs, with the server's own socket. */
export function extensionManager({ service }: ServeProcess): Manifest {
  const [{ extensionManager } = {}] = documented("envoy-gateway/gateway-config.yaml");
  return { extensionManager: { ...(extensionManager as Manifest), service } };
}

/** A Gateway `eg` whose proxy is this version of Envoy; `proxy` is what else its EnvoyProxy says. */
export function gateway(envoyVersion: string, proxy: Manifest = { mergeBackends: {} }): Manifest[] {
  const parametersRef = { group: ENVOY, kind: "EnvoyProxy", name: "proxy", namespace: "default" };
  return [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "GatewayClass",
      metadata: { name: "eg" },
      spec: { controllerName: CONTROLLER, parametersRef },
    },
    resource(`${ENVOY}/v1alpha1`, "EnvoyProxy", "proxy", {
      ...proxy,
      provider: { type: "Host", host: { envoyVersion } },
    }),
    resource("gateway.networking.k8s.io/v1", "Gateway", "eg", {
      gatewayClassName: "eg",
      listeners: [{ name: "http", protocol: "HTTP", port: PORT }],
    }),
  ];
}

/** Backends by name, each with its port on 127.0.0.1. */
export function backends(ports: Record<string, number>): Manifest[] {
  return Object.entries(ports).map(([name, port]) =>
    resource(`${ENVOY}/v1alpha1`, "Backend", name, { endpoints: [{ ip: { address: "127.0.0.1", port } }] }),
  );
}

/** A rule of an HTTPRoute, for a path prefix. */
export function rule(name: string, path: string, ...names: string[]): Manifest {
  return { name, matches: [{ path: { type: "PathPrefix", value: path } }], backendRefs: names.map(backendRef) };
}

export function httpRoute(name: string, rules: readonly Manifest[]): Manifest {
  return resource("gateway.networking.k8s.io/v1", "HTTPRoute", name, { parentRefs: [{ name: "eg" }], rules });
}

export function backendRef(name: string): Manifest {
  return { group: ENVOY, kind: "Backend", name };
}

/** A PriorityGroups for a route or one of its rules: a group for each list of backends. */
export function policy(name: string, route: string, ruleName: string | undefined, ...groups: string[][]): Manifest {
  const section = ruleName === undefined ? {} : { sectionName: ruleName };
  return resource("attempt-router.dev/v1alpha1", "PriorityGroups", name, {
    targetRefs: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: route, ...section }],
    groups: groups.map((names, index) => ({ name: `group-${index}`, backends: names.map((one) => ({ name: one })) })),
    retry: { retry_on: "5xx", num_retries: groups.length - 1 },
  });
}

export function resource(apiVersion: string, kind: string, name: string, spec: Manifest): Manifest {
  return { apiVersion, kind, metadata: { name, namespace: "default" }, spec };
}

const ENVOY = "gateway.envoyproxy.io";
