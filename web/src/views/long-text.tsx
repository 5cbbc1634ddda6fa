import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { lines as countOf } from "../format.ts";
import { words } from "../language.ts";
import { CodeBlock } from "./code-block.tsx";
import { CopyButton } from "./copy-button.tsx";

/** Beyond one of these a text is drawn in part. */
const MANY_LINES = 400;
const MANY_CHARACTERS = 60_000;
/** Longer lines are broken, so that one line is one row. */
const LONG_LINE = 2_000;
const ROW = 19;
const HEIGHT = 380;
const BEYOND = 20;

/** A text in fixed width; of a long one only what is in view is drawn. */
export function LongText({ text, language, label }: { text: string; language: string; label: string }) {
  const lines = useMemo(() => rowsOf(text), [text]);
  if (lines.length <= MANY_LINES && text.length <= MANY_CHARACTERS) return <CodeBlock text={text} language={language} closed label={label} />;
  return <Window text={text} lines={lines} language={language} label={label} />;
}

function Window({ text, lines, language, label }: { text: string; lines: readonly string[]; language: string; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    // What a tool said last matters most.
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  const first = Math.max(0, Math.floor(top / ROW) - BEYOND);
  const count = countOf(lines.length);
  const shown = lines.slice(first, first + Math.ceil(HEIGHT / ROW) + 2 * BEYOND);
  return (
    <div class="code" data-anchor>
      <div class="code-head">
        <span>{label} <span class="faint">{count}</span></span>
        <CopyButton text={text} label={words.value.copy.copyCode} />
      </div>
      <div
        ref={box} class="long-text" tabIndex={0} role="region" aria-label={words.value.tools.linesOf(label, count)} style={{ maxHeight: `${HEIGHT}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <div style={{ height: `${lines.length * ROW}px` }}>
          <pre style={{ transform: `translateY(${first * ROW}px)` }}>
            {shown.map((line, at) => <div key={first + at} class={language === "diff" ? diffClass(line) : undefined}>{line || " "}</div>)}
          </pre>
        </div>
      </div>
    </div>
  );
}

function rowsOf(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    if (line.length <= LONG_LINE) return [line];
    return Array.from({ length: Math.ceil(line.length / LONG_LINE) }, (_, at) => line.slice(at * LONG_LINE, (at + 1) * LONG_LINE));
  });
}

function diffClass(line: string): string {
  if (line.startsWith("+")) return "hljs-addition";
  return line.startsWith("-") ? "hljs-deletion" : "";
}
