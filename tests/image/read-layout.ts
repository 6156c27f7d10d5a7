import { execaSync } from "execa";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256, type Descriptor } from "../../tools/image/layout.js";

export interface Manifest {
  config: Descriptor;
  layers: Descriptor[];
  annotations?: Record<string, string>;
}

/** An OCI image layout on disk. Every blob is checked against its digest when it is read. */
export class Layout {
  readonly digest: string;
  readonly manifest: Manifest;

  constructor(readonly folder: string) {
    const index = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")) as { manifests: Descriptor[] };
    const [entry] = index.manifests;
    if (entry === undefined || index.manifests.length > 1) throw new Error("expected one image in the layout");
    this.digest = entry.digest;
    this.manifest = this.json(entry) as Manifest;
  }

  blob({ digest, size }: Descriptor): Buffer {
    const content = readFileSync(join(this.folder, "blobs", digest.replace(":", "/")));
    if (sha256(content) !== digest || content.length !== size) throw new Error(`blob ${digest} is not what it says`);
    return content;
  }

  json(descriptor: Descriptor): unknown {
    return JSON.parse(this.blob(descriptor).toString());
  }

  layer(mediaType: string): Buffer {
    const layer = this.manifest.layers.find((one) => one.mediaType === mediaType);
    if (layer === undefined) throw new Error(`expected a layer of type ${mediaType}`);
    return this.blob(layer);
  }

  /** The names in the only layer of a container image, and its plugin.wasm; read by tar, not by our own code. */
  files(): { names: string[]; module: Buffer } {
    const input = this.layer("application/vnd.oci.image.layer.v1.tar+gzip");
    const { stdout } = execaSync("tar", ["-tzf", "-"], { input });
    const { stdout: module } = execaSync("tar", ["-xzOf", "-", "plugin.wasm"], { input, encoding: "buffer" });
    return { names: stdout.split("\n"), module: Buffer.from(module) };
  }
}
