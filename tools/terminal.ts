import picocolors from "picocolors";

/** Colours for standard output: none unless it is a terminal. Tools that take CI for one would colour files and pipes. */
export const colors = picocolors.createColors(process.stdout.isTTY ? picocolors.isColorSupported : false);
