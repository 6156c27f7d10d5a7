// The line on standard error that says which row is measured, and on a terminal that it is still being measured.

const TICK_MS = 200;
const FRAMES = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇"];

/** One row at a time: `start`, any number of `phase`, `end`. */
export class Progress {
  #line = "";
  #phase = "";
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly out: NodeJS.WriteStream = process.stderr) {}

  start(index: number, count: number, name: string): void {
    this.#line = `[${index}/${count}] ${name}`;
    this.#phase = "starting";
    this.#started = performance.now();
    if (this.out.isTTY) this.#timer = setInterval(() => this.#draw(), TICK_MS);
    else this.out.write(`${this.#line}\n`);
  }

  phase(text: string): void {
    this.#phase = text;
  }

  /** Removes the line from the terminal. */
  end(): void {
    clearInterval(this.#timer);
    if (this.out.isTTY) this.out.write("\r\x1b[K");
  }

  #draw(): void {
    const elapsed = performance.now() - this.#started;
    const frame = FRAMES[Math.floor(elapsed / TICK_MS) % FRAMES.length] ?? "";
    const text = `${frame} ${this.#line} · ${this.#phase} · ${Math.floor(elapsed / 1000)} s`;
    this.out.write(`\r${text.slice(0, this.out.columns - 1)}\x1b[K`);
  }
}
