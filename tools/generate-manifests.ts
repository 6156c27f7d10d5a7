// `npm run generate:manifests`: writes docs/control-planes/manifests.
import { writeFile } from "node:fs/promises";
import { manifestFiles } from "./manifests/files.js";

for (const [name, text] of Object.entries(manifestFiles())) {
  await writeFile(new URL(`../docs/control-planes/manifests/${name}`, import.meta.url), text);
}
