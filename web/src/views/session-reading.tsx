import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { clock, roleName } from "../format.ts";
import { words } from "../language.ts";
import type { SessionLines } from "../protocol/frames.ts";
import { later } from "../words/later.ts";
import { SessionContext } from "./context.ts";
import { AlertIcon, BackIcon } from "./icons.tsx";
import { Markdown } from "./markdown.tsx";

type Shown = SessionLines | "loading" | { readonly failure: string };

/** A session of the host that is no lane of Iris: to read, and nothing else. */
export function SessionReading({ id, onBack }: { id: string; onBack: () => void }) {
  const session = useContext(SessionContext);
  const back = useRef<HTMLButtonElement>(null);
  const [shown, setShown] = useState<Shown>("loading");
  const load = async (): Promise<void> => {
    setShown("loading");
    const outcome = await session?.request({ type: "session.get", session_id: id });
    if (outcome !== undefined) setShown(outcome.ok ? outcome.answer : { failure: outcome.message });
  };
  useEffect(() => {
    back.current?.focus();
    void load();
  }, [id]);
  const { search: w } = later.value;
  const lines = shown !== "loading" && "lines" in shown ? shown : undefined;
  return (
    <div class="search-body" role="region" aria-label={w.outsideSession}>
      <div class="session-head">
        <button ref={back} type="button" class="icon-button" aria-label={w.back} title={w.backKey} onClick={onBack}><BackIcon /></button>
        <h2>{lines?.title || w.aSession}</h2>
      </div>
      <p class="session-note" role="note">
        <AlertIcon />
        <span>{lines === undefined ? w.readOnly : w.readOnlyFrom(lines.source)}</span>
      </p>
      <div class="search-results session-lines" tabIndex={0} role="region" aria-label={w.said}>
        <Lines shown={shown} onRetry={() => void load()} />
      </div>
    </div>
  );
}

function Lines({ shown, onRetry }: { shown: Shown; onRetry: () => void }) {
  if (shown === "loading") return <p class="dialog-state" role="status"><span class="spinner" /><span>{later.value.search.loadingSession}</span></p>;
  if ("failure" in shown) {
    return (
      <p class="dialog-state" role="alert">
        <AlertIcon /><span>{shown.failure}</span>
        <button type="button" class="text-button" onClick={onRetry}>{words.value.common.tryAgain}</button>
      </p>
    );
  }
  if (shown.lines.length === 0) return <p class="dialog-state">{later.value.search.nothingSaid}</p>;
  return (
    <>
      {shown.lines.map((line, at) => (
        <article key={at} class={`session-line ${line.role}`} aria-label={roleName(line.role)}>
          <div class="hit-head"><b>{roleName(line.role)}</b><time>{clock(line.ts, Date.now())}</time></div>
          {line.role === "user" ? <div class="session-text">{line.text}</div> : <Markdown text={line.text} live={false} />}
        </article>
      ))}
    </>
  );
}
