import { testStyles } from "./styles.js";

testStyles(
  "Windows line ends",
  "Windows line ends and anchors",
  "comments everywhere",
  "a byte order mark",
  "document markers",
  "no line end",
  "camelCase",
);
