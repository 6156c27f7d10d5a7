// The page: the editor and the form go to the worker, and what comes back is shown.

import { fragmentOf, sharedOf } from "../cli/playground/share.js";
import { WASM, type Analysis, type PageFinding } from "./analysis.js";
import { configEditor, goTo, loweredView, setText, showFindings, showLowered, textOf } from "./editors.js";
import type { Form } from "./question.js";
import type { Outcome, Task } from "./worker.js";

/** Milliseconds without typing after which the config is looked at. */
const PAUSE = 150;

const form = element("request", HTMLFormElement);
const samples = element("samples", HTMLSelectElement);
const state = element("state", HTMLElement);
const editor = configEditor(element("editor", HTMLElement), () => later());
const lowered = loweredView(element("lowered", HTMLElement));
const worker = new Worker(URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" })));

let timer = 0;
let asked = 0;
/** One task at a time: what is typed meanwhile is asked once the answer is there. */
let busy = false;
let waiting = false;
/** What cannot be lowered has no text. */
let loweredText: string | undefined;

function element<T extends HTMLElement>(id: string, type: { new (): T }): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

function later(): void {
  state.textContent = "…";
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
}

function ask(): void {
  waiting = busy;
  if (busy) return;
  busy = true;
  worker.postMessage({ id: ++asked, config: textOf(editor), form: formFields() } satisfies Task);
}

worker.addEventListener("message", ({ data }: MessageEvent<Outcome>) => {
  busy = false;
  if ("analysis" in data) show(data.analysis);
  else state.textContent = `The analysis failed: ${data.defect}`;
  if (waiting) ask();
});

function formFields(): Form {
  const texts = [...new FormData(form)].filter((field): field is [string, string] => typeof field[1] === "string");
  return Object.fromEntries(texts);
}

function show({ findings, lowered: result, explanation, problem, path }: Analysis): void {
  showFindings(editor, findings);
  element("findings", HTMLElement).replaceChildren(...findings.map(itemOf));
  state.textContent = summaryOf(findings);
  const target = element("explanation", HTMLElement);
  // Escaped by the one who writes it: cli/explain/html.ts.
  if (explanation !== undefined) target.innerHTML = explanation;
  else target.textContent = problem ?? "The config has to be readable first.";
  target.classList.toggle("problem", explanation === undefined);
  element("path", HTMLInputElement).placeholder = path;
  loweredText = result?.text;
  showLowered(lowered, result?.text ?? "", result?.changed ?? []);
  element("lowered-state", HTMLElement).textContent =
    result === undefined ? "This config cannot be lowered: see the errors." : `${result.changed.length} lines changed`;
  element("download", HTMLButtonElement).disabled = result === undefined;
}

function summaryOf(findings: readonly PageFinding[]): string {
  if (findings.length === 0) return "Nothing found.";
  const count = (severity: PageFinding["severity"]): number =>
    findings.filter((one) => one.severity === severity).length;
  const parts = (["error", "warning", "info"] as const).map((severity) => [severity, count(severity)] as const);
  const named = parts.filter(([, number]) => number > 0);
  return named
    .map(([severity, number]) => `${number} ${severity}${number === 1 || severity === "info" ? "" : "s"}`)
    .join(", ");
}

function itemOf(finding: PageFinding): HTMLElement {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.className = finding.severity;
  button.textContent = `line ${finding.line}: ${finding.severity}: ${finding.message}`;
  button.addEventListener("click", () => goTo(editor, finding));
  item.append(button);
  for (const text of [finding.why, finding.fix]) {
    if (text === undefined) continue;
    const line = document.createElement("p");
    line.textContent = `${text === finding.fix ? "Fix: " : ""}${text}${finding.code !== undefined && text === finding.fix ? ` [${finding.code}]` : ""}`;
    item.append(line);
  }
  return item;
}

form.addEventListener("input", () => later());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});

for (const name of Object.keys(SAMPLES)) samples.add(new Option(name, name));
samples.addEventListener("change", () => {
  form.reset();
  setText(editor, SAMPLES[samples.value] ?? "");
});

element("share", HTMLButtonElement).addEventListener("click", () => void share());
element("download", HTMLButtonElement).addEventListener("click", download);

async function share(): Promise<void> {
  history.replaceState(null, "", await fragmentOf({ config: textOf(editor), form: formFields() }));
  // Browsers have no clipboard for pages that came over HTTP from elsewhere.
  const copied = await Promise.resolve()
    .then(() => navigator.clipboard.writeText(location.href))
    .then(
      () => true,
      () => false,
    );
  state.textContent = copied ? "The link is copied." : "The link is in the address bar.";
}

function download(): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([loweredText ?? ""], { type: "application/yaml" }));
  link.download = "envoy.yaml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function start(): Promise<void> {
  element("wasm", HTMLElement).textContent = WASM;
  const shared = await sharedOf(location.hash);
  for (const [name, text] of Object.entries(shared?.form ?? {})) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) field.value = text;
  }
  setText(editor, shared?.config ?? SAMPLES[samples.value] ?? "");
}

addEventListener("hashchange", () => void start());
void start();
