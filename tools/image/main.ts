// `npm run image`: writes each module as OCI layouts, a container image and a Wasm artifact: build/image and build/artifact, and
// build/hold-image and build/hold-artifact of the module that holds answers.
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };
import { artifactImage, containerImage, HOLD, MAIN } from "./images.js";
import { writeLayout } from "./layout.js";

const BUILD = fileURLToPath(new URL("../../build/", import.meta.url));
const modules = [
  { module: MAIN, prefix: "" },
  { module: HOLD, prefix: "hold-" },
];
for (const { module, prefix } of modules) {
  const wasm = `${BUILD}${module.name}.wasm`;
  const images = { image: await containerImage(wasm, module), artifact: await artifactImage(wasm, module) };
  for (const [kind, image] of Object.entries(images)) {
    const digest = await writeLayout(BUILD + prefix + kind, image, packageJson.version);
    process.stdout.write(`build/${prefix}${kind}:${packageJson.version} ${digest}\n`);
  }
}
