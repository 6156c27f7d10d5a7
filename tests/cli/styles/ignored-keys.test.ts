import { testStyles } from "./styles.js";

testStyles("ignored keys", "ignored keys, flow only", "anchors in ignored keys");
