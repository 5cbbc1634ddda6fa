import { clock } from "../format.ts";
import type { MessageEntry, Sender } from "../model.ts";
import { hueOf, markOf } from "../room.ts";
import { Face } from "./face.tsx";
import { Markdown } from "./markdown.tsx";

/** What somebody said in a room; what goes on where the one before ended has no head of its own. */
export function Said({ entry, sender, first }: { entry: MessageEntry; sender: Sender; first: boolean }) {
  const time = clock(entry.ts, Date.now());
  return (
    <article class={`said ${first ? "first" : ""}`} aria-label={[sender.name, markOf(sender.kind)].filter(Boolean).join(", ")}>
      {first ? <Face name={sender.name} kind={sender.kind} /> : <time class="aside">{time}</time>}
      <div class="words">
        {first && (
          <header>
            <b class={`hue-${hueOf(sender.name)}`}>{sender.name}</b>
            <Mark kind={sender.kind} />
            <time>{time}</time>
          </header>
        )}
        <Markdown text={entry.text} live={false} />
      </div>
    </article>
  );
}

export function Mark({ kind }: { kind: Sender["kind"] }) {
  const mark = markOf(kind);
  return mark === undefined ? null : <span class={`mark ${kind}`}>{mark}</span>;
}
