import { testStyles } from "./styles.js";

testStyles("anchors and aliases", "merge keys", "merge keys, anchors and aliases");
