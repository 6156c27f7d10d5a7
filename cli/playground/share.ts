// What the playground shows, as the fragment of its address: a fragment is never sent to a server.

/** The config in the editor, and the form of the request. */
export interface Shared {
  config: string;
  form: Record<string, string>;
}

const KEY = "#c=";
/** No config that someone types is larger; a short fragment could grow to any size. */
const MAX_BYTES = 4 * 1024 * 1024;

/** `#c=` and the content: JSON, deflated, in base64url. */
export async function fragmentOf(shared: Shared): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  let text = "";
  for (let at = 0; at < packed.length; at += 4096) text += String.fromCharCode(...packed.subarray(at, at + 4096));
  return KEY + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The content of a fragment; undefined where it has none, or is no fragment of this kind. */
export async function sharedOf(fragment: string): Promise<Shared | undefined> {
  if (!fragment.startsWith(KEY)) return undefined;
  try {
    const text = atob(fragment.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(text, (char) => char.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"));
    return readShared(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

function readShared(value: unknown): Shared | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { config, form } = value as { config?: unknown; form?: unknown };
  if (typeof config !== "string") return undefined;
  const fields = typeof form === "object" && form !== null ? Object.entries(form) : [];
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === "string");
  return { config, form: Object.fromEntries(texts) };
}

/** @throws Error where more than MAX_BYTES come out, or the bytes are not packed in this way */
async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const writer = stream.writable.getWriter();
  // What is wrong with the bytes is thrown where they are read.
  writer.write(bytes as never).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = stream.readable.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value: part } = (await reader.read()) as { done: boolean; value: Uint8Array };
    if (done) break;
    size += part.length;
    if (size > MAX_BYTES) throw new Error("too large");
    parts.push(part);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
