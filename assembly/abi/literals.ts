// Strings of the release module, see tools/asc/lean.js: it fills in the texts, and makes `__literal` known to every file.

/** UTF-8 texts, each with a byte behind it that UTF-8 has not. */
const TEXTS: StaticArray<u8> = [];
const END: u8 = 0xff;
/** The strings by number, as far as they were made. */
const CACHE: usize = memory.data(4);

/** The string with that number. It is made when it is first needed, and kept. */
export function __literal(index: i32): string {
  const place = CACHE + 4 * <usize>index;
  const known = load<usize>(place);
  if (known != 0) return changetype<string>(known);
  let start = changetype<usize>(TEXTS);
  for (let i = 0; i < index; i++) start = endOf(start) + 1;
  const made = String.UTF8.decodeUnsafe(start, endOf(start) - start);
  store<usize>(place, __pin(changetype<usize>(made)));
  return made;
}

function endOf(text: usize): usize {
  while (load<u8>(text) != END) text++;
  return text;
}
