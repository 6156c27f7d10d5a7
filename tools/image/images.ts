import { readFile } from "node:fs/promises";
import packageJson from "../../package.json" with { type: "json" };
import { envoyVersions } from "../envoy/binary.js";
import { json, sha256, type Blob, type Image } from "./layout.js";
import { gzipStored, tarOf } from "./tar.js";

/** The name of the module in an image, by which Istio and Envoy Gateway find it. */
const MODULE = "plugin.wasm";
const EPOCH = "1970-01-01T00:00:00Z";
const TITLE = "org.opencontainers.image.title";

/** A module: the name of its file without `.wasm`, and what it is for. */
export interface Module {
  name: string;
  description: string;
}

export const MAIN: Module = { name: packageJson.name, description: packageJson.description };
export const HOLD: Module = {
  name: `${packageJson.name}-hold`,
  description: "Holds answers until their first content, for hold_response of attempt-router: a proxy-wasm module",
};

/** What describes an image of a module: labels of a container image, annotations of a manifest. */
export async function labels({ name, description }: Module): Promise<Record<string, string>> {
  const { versions } = await envoyVersions();
  const { license, repository, version } = packageJson;
  return {
    [TITLE]: name,
    "org.opencontainers.image.description": description,
    "org.opencontainers.image.licenses": license,
    "org.opencontainers.image.source": repository.url.replace(/^git\+|\.git$/g, ""),
    "org.opencontainers.image.version": version,
    "attempt-router.envoy-versions": versions.join(","),
  };
}

/** A container image as `docker build` makes it: one layer with the module at its root. */
export async function containerImage(wasm: string, module: Module): Promise<Image> {
  const tar = tarOf(MODULE, await readFile(wasm));
  const described = await labels(module);
  const config = {
    created: EPOCH,
    // Tools expect a platform; the module has none.
    architecture: "amd64",
    os: "linux",
    config: { Labels: described },
    rootfs: { type: "layers", diff_ids: [sha256(tar)] },
    history: [{ created: EPOCH, created_by: `COPY ${MODULE} /` }],
  };
  return {
    config: { mediaType: "application/vnd.oci.image.config.v1+json", content: json(config) },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", content: gzipStored(tar) }],
    annotations: described,
  };
}

/**
 * A Wasm artifact: the module as it is for one layer. The specification of Wasm artifacts has its runtime config for
 * another layer, and Istio and Envoy Gateway take no artifact without both.
 */
export async function artifactImage(wasm: string, module: Module): Promise<Image> {
  const runtime = { type: "envoy_proxy", abiVersions: ["v0.2.1"], config: { root_ids: ["downstream", "upstream"] } };
  const config: Blob = { mediaType: "application/vnd.module.wasm.config.v1+json", content: json(runtime) };
  return {
    config,
    layers: [
      {
        mediaType: "application/vnd.module.wasm.content.layer.v1+wasm",
        content: await readFile(wasm),
        annotations: { [TITLE]: MODULE },
      },
      { ...config, annotations: { [TITLE]: "runtime-config.json" } },
    ],
    annotations: { "org.opencontainers.image.created": EPOCH, ...(await labels(module)) },
  };
}
