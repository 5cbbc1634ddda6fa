import type { RefObject } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { connected } from "../app.ts";
import { duration, TENTHS, toolArguments } from "../format.ts";
import { words } from "../language.ts";
import type { ToolEntry } from "../model.ts";
import { changeIn, parsed, shownOf } from "../output.ts";
import type { ToolData } from "../protocol/frames.ts";
import { settings } from "../settings.ts";
import { SessionContext } from "./context.ts";
import { BlockedIcon, CancelledIcon, CheckIcon, ChevronIcon, CrossIcon } from "./icons.tsx";
import { LongText } from "./long-text.tsx";

/** Consecutive tool calls as one quiet record. */
export function ToolCard({ tools }: { tools: readonly ToolEntry[] }) {
  return (
    <ul class="tools" aria-label={words.value.tools.calls} data-anchor>
      {tools.map((tool) => <ToolRow key={tool.id} tool={tool} />)}
    </ul>
  );
}

function ToolRow({ tool }: { tool: ToolEntry }) {
  const [chosen, setOpen] = useState<boolean | undefined>();
  const open = chosen ?? settings.value.tools === "everything";
  return (
    <li class={`tool ${tool.state}`}>
      <button type="button" class="tool-row" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="tool-state" role="img" aria-label={words.value.tools.states[tool.state]} title={words.value.tools.states[tool.state]}>
          <StateIcon state={tool.state} />
        </span>
        <span class="tool-name">{tool.name}</span>
        <span class="tool-preview">{tool.preview}</span>
        <Elapsed tool={tool} />
        <ChevronIcon />
      </button>
      {open && <ToolDetail tool={tool} />}
    </li>
  );
}

function StateIcon({ state }: { state: ToolEntry["state"] }) {
  switch (state) {
    case "running": return <span class="spinner" />;
    case "ok": return <CheckIcon />;
    case "error": return <CrossIcon />;
    case "blocked": return <BlockedIcon />;
    case "cancelled": return <CancelledIcon />;
  }
}

function Elapsed({ tool }: { tool: ToolEntry }) {
  if (tool.state === "running") return <span class="tool-time"><Ticking since={tool.ts} /></span>;
  if (tool.state === "blocked" || tool.state === "cancelled") return <span class="tool-time">{words.value.tools.states[tool.state]}</span>;
  return <span class="tool-time">{tool.duration === undefined ? "" : duration(tool.duration)}</span>;
}

/** Time since a moment of the server's clock. */
export function Ticking({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now());
  const passed = now / 1000 - since;
  useEffect(() => {
    // As often as another time is shown: tenths come first, then whole seconds.
    const timer = setTimeout(() => setNow(Date.now()), passed < TENTHS ? 200 : 1_000);
    return () => clearTimeout(timer);
  }, [now]);
  return <>{duration(passed)}</>;
}

/** Asked for once it is open and about to be seen: the frames of a call carry only a part of a long text. */
function ToolDetail({ tool }: { tool: ToolEntry }) {
  const session = useContext(SessionContext);
  const [whole, setWhole] = useState<ToolData | undefined>();
  const [complaint, setComplaint] = useState("");
  const place = useRef<HTMLDivElement>(null);
  const near = useNear(place);
  const online = connected.value;
  const over = tool.state !== "running";
  useEffect(() => {
    if (session === undefined || !near || (!online && whole !== undefined)) return undefined;
    let wanted = true;
    void session.request({ type: "tool.get", tool_call_id: tool.id }).then((outcome) => {
      if (!wanted) return;
      if (outcome.ok) setWhole(outcome.answer);
      setComplaint(outcome.ok ? "" : outcome.message);
    });
    return () => {
      wanted = false;
    };
  }, [tool.id, over, session, near, online]);
  const args = useMemo(() => argumentsOf(whole, tool), [whole, tool]);
  const output = useMemo(() => shownOf(whole?.output || tool.output), [whole, tool.output]);
  const isCut = whole === undefined && tool.truncated;
  const { tools: w } = words.value;
  return (
    <div ref={place} class="tool-detail">
      {args.change !== undefined && <LongText text={args.change} language="diff" label={w.change} />}
      {args.change === undefined && args.text !== "" && (
        <LongText text={args.text} language={args.language} label={args.language === "bash" ? (isCut ? w.commandShortened : w.command) : isCut ? w.argumentsShortened : w.arguments} />
      )}
      {output.pictures.map(({ src }) => <img key={src} class="tool-picture" src={src} alt={w.picture(tool.name)} />)}
      {output.text !== "" && <LongText text={output.text} language={output.language} label={w.output} />}
      {output.text === "" && output.pictures.length === 0 && <p class="faint">{over ? w.noOutput : w.noOutputYet}</p>}
      {complaint !== "" && <p class="faint" role="status">{w.onlyPart(complaint)}</p>}
    </div>
  );
}

/** Whether something was ever close to what is on the screen. */
function useNear(place: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && setNear(true));
    if (place.current !== null) watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return near;
}

function argumentsOf(whole: ToolData | undefined, tool: ToolEntry): { text: string; language: string; change: string | undefined } {
  const all = whole === undefined ? tool.args : parsed(whole.args);
  // Arguments that are kept in part are no JSON any more.
  if (typeof all !== "object" || all === null) return { text: whole?.args ?? "", language: "", change: undefined };
  const args = all as Readonly<Record<string, unknown>>;
  const shown = Object.keys(args).length > 0 ? toolArguments(args) : { text: "", language: "" };
  return { ...shown, change: changeIn(args) };
}
