import { testStyles } from "./styles.js";

testStyles("flow only", "block only", "block and flow", "long lines broken");
