import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A reference to a blob of an image. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

/** An image: its config, its layers and what describes it. */
export interface Image {
  config: Blob;
  layers: Blob[];
  annotations: Record<string, string>;
}

export interface Blob {
  mediaType: string;
  content: Buffer;
  annotations?: Record<string, string>;
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";

/**
 * Writes an OCI image layout with one image, in the place of what is there.
 * @param tag the name under which tools find the image in the layout
 * @returns the digest of the image's manifest, `sha256:HEX`
 */
export async function writeLayout(folder: string, image: Image, tag: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "blobs", "sha256"), { recursive: true });
  const put = async (blob: Blob): Promise<Descriptor> => {
    const descriptor = describe(blob);
    await writeFile(join(folder, "blobs", descriptor.digest.replace(":", "/")), blob.content);
    return descriptor;
  };
  const config = await put(image.config);
  const layers = await Promise.all(image.layers.map(put));
  const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers, annotations: image.annotations };
  const descriptor = await put({ mediaType: MANIFEST, content: json(manifest) });
  const entry = { ...descriptor, annotations: { "org.opencontainers.image.ref.name": tag } };
  await writeFile(join(folder, "index.json"), json({ schemaVersion: 2, mediaType: INDEX, manifests: [entry] }));
  await writeFile(join(folder, "oci-layout"), json({ imageLayoutVersion: "1.0.0" }));
  return descriptor.digest;
}

export function sha256(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function describe({ mediaType, content, annotations }: Blob): Descriptor {
  const descriptor = { mediaType, digest: sha256(content), size: content.length };
  return annotations === undefined ? descriptor : { ...descriptor, annotations };
}
