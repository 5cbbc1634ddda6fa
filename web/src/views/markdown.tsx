import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { copyText } from "../clipboard.ts";
import { highlight } from "../highlight.ts";
import { words } from "../language.ts";
import type { Block } from "../markdown.ts";
import { morph } from "../morph.ts";
import { engine } from "../rich-text.ts";
import { CodeBlock } from "./code-block.tsx";

/** Markdown that may still be streaming. */
export function Markdown({ text, live }: { text: string; live: boolean }) {
  const rich = engine.value;
  const before = useRef<readonly Block[]>([]);
  const said = words.value;
  const blocks = useMemo(() => {
    if (rich === undefined) return undefined;
    before.current = live ? rich.streamingBlocks(text, before.current) : rich.finishedBlocks(text);
    return before.current;
  }, [text, live, rich, said]);
  if (blocks === undefined) return <div class="markdown plain">{text}</div>;
  return <div class="markdown">{blocks.map((block, at) => draw(block, at))}</div>;
}

/** Blocks as drawn before: the same block gives the same node, and Preact leaves it alone. */
const drawn = new WeakMap<Block, VNode>();

function draw(block: Block, at: number): VNode {
  const known = drawn.get(block);
  if (known !== undefined) return known;
  const node =
    block.kind === "code" ? (
      <CodeBlock key={at} text={block.text} language={block.language} closed={block.closed} />
    ) : (
      <HtmlBlock key={at} html={block.html} closed={block.closed} />
    );
  drawn.set(block, node);
  return node;
}

let drawing: typeof import("../draw-formula.ts") | undefined;

/** At once when what it takes is here, so that nothing jumps. */
function drawFormulas(place: Element): void {
  if (place.querySelector("[data-formula]") === null) return;
  if (drawing !== undefined) return drawing.drawFormulas(place);
  import("../draw-formula.ts").then(
    (loaded) => {
      drawing = loaded;
      loaded.drawFormulas(place);
    },
    (cause: unknown) => console.warn("Formulas stay as they were written.", cause),
  );
}

function HtmlBlock({ html, closed }: { html: string; closed: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const rich = engine.peek();
    if (place.current !== null && rich !== undefined) morph(place.current, rich.sanitise(html));
  }, [html]);
  // While it grows nothing follows a drawing.
  const finished = closed ? html : undefined;
  useEffect(() => {
    if (finished === undefined) return;
    for (const code of place.current?.querySelectorAll<HTMLElement>("code[data-language]") ?? []) void colour(code);
  }, [finished]);
  useLayoutEffect(() => {
    if (finished !== undefined && place.current !== null) drawFormulas(place.current);
  }, [finished]);
  return <div ref={place} class="block" data-anchor onClick={copyNestedCode} />;
}

async function colour(code: HTMLElement): Promise<void> {
  const coloured = await highlight(code.textContent ?? "", code.dataset["language"] ?? "");
  if (coloured !== undefined && code.isConnected) morph(code, coloured);
}

/** A code block inside a list or a quotation is plain HTML, and so is its button. */
async function copyNestedCode(event: MouseEvent): Promise<void> {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-copy]") : null;
  const code = button?.closest(".code")?.querySelector("code");
  if (!button || !code) return;
  const copied = await copyText(code.textContent ?? "");
  button.textContent = copied ? words.value.copy.copied : words.value.copy.failed;
  setTimeout(() => {
    button.textContent = words.value.copy.copy;
  }, 1600);
}
