// `npm run image`: writes the module as OCI layouts, build/image (a container image) and build/artifact (a Wasm artifact).
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };
import { artifactImage, containerImage } from "./images.js";
import { writeLayout } from "./layout.js";

const BUILD = fileURLToPath(new URL("../../build/", import.meta.url));
const wasm = `${BUILD}attempt-router.wasm`;
const images = { image: await containerImage(wasm), artifact: await artifactImage(wasm) };
for (const [name, image] of Object.entries(images)) {
  const digest = await writeLayout(BUILD + name, image, packageJson.version);
  process.stdout.write(`build/${name}:${packageJson.version} ${digest}\n`);
}
