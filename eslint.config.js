import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      "build/",
      "assembly/",
      "examples/",
      "tests/unit/",
      "bench/peers/",
      "cli/proto/",
      "tools/site/.vitepress/",
      "node_modules/",
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ["eslint.config.js", "tools/asc/*.js"] } },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
    },
  },
  { files: ["**/*.js"], ...tseslint.configs.disableTypeChecked },
);
