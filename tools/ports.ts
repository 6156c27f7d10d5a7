import { once } from "node:events";
import { createServer } from "node:net";

// Below the ports that systems give to outgoing connections and to servers that ask for any: between the look and the use,
// nobody takes a port of these by chance.
const FIRST = 10_000;
const COUNT = 20_000;

/** A port on 127.0.0.1 for a process that has to be told its port. */
export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isUnused(port)) return port;
  }
}

async function isUnused(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
