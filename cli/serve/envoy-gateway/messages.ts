import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { createFileRegistry, fromBinary, type DescMessage, type FileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** Made by tools/envoy-gateway/descriptors. */
const FILE = new URL("./messages.binpb.gz", import.meta.url);

let registry: FileRegistry | undefined;

function messages(): FileRegistry {
  registry ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, gunzipSync(readFileSync(FILE))));
  return registry;
}

/** The message of that full name, where it is one of those that are read. */
export function findMessage(name: string): DescMessage | undefined {
  return messages().getMessage(name);
}

/** The same of a message that is known to be there. */
export function messageOf(name: string): DescMessage {
  const found = findMessage(name);
  if (found === undefined) throw new Error(`no descriptor of ${name}`);
  return found;
}
