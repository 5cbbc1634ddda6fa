/** Asks the worker for coloured code; the worker is loaded when the first finished code block appears. */
import { loadGate } from "./sanitise.ts";

export interface HighlightJob {
  readonly id: number;
  readonly text: string;
  readonly language: string;
}

export interface HighlightResult {
  readonly id: number;
  /** Undefined when the language is not known. */
  readonly html: string | undefined;
}

/** Colours help nobody beyond this, and cost time. */
const LONGEST_TEXT = 50_000;
const MOST_REMEMBERED = 300;

const waiting = new Map<number, (html: string | undefined) => void>();
const remembered = new Map<string, DocumentFragment>();
let worker: Worker | undefined;
let lastId = 0;

/** Gives the code in parts with colour classes, or undefined when it stays as it is. */
export async function highlight(text: string, language: string): Promise<DocumentFragment | undefined> {
  if (language === "" || text.length > LONGEST_TEXT) return undefined;
  const known = highlighted(text, language);
  if (known !== undefined) return known;
  const html = await new Promise<string | undefined>((resolve) => {
    const id = ++lastId;
    waiting.set(id, resolve);
    ready().postMessage({ id, text, language } satisfies HighlightJob);
  });
  if (html === undefined) return undefined;
  const sanitise = await loadGate();
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(keyOf(text, language), sanitise(html));
  return highlighted(text, language);
}

/** What is known already, without waiting. */
export function highlighted(text: string, language: string): DocumentFragment | undefined {
  return remembered.get(keyOf(text, language))?.cloneNode(true) as DocumentFragment | undefined;
}

function keyOf(text: string, language: string): string {
  return `${language}\n${text}`;
}

function ready(): Worker {
  if (worker !== undefined) return worker;
  worker = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = (event: MessageEvent<HighlightResult>) => {
    waiting.get(event.data.id)?.(event.data.html);
    waiting.delete(event.data.id);
  };
  return worker;
}
