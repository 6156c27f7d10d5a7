import { testStyles } from "./styles.js";

testStyles("JSON on one line", "JSON with tabs", "JSON with Windows line ends");
