// Unit tests of the module's pure code, compiled and run by as-pect.
export default {
  entries: ["tests/unit/**/*.spec.ts", "examples/**/*.spec.ts"],
  include: ["tests/unit/**/*.include.ts"],
  disclude: [/node_modules/],
  async instantiate(memory, createImports, instantiate, binary) {
    return instantiate(binary, createImports({ env: { memory } }));
  },
  outputBinary: false,
};
