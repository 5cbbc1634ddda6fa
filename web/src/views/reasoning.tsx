import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isLongReasoning, lineCount, lines } from "../format.ts";
import { words } from "../language.ts";
import { write } from "../morph.ts";
import { settings } from "../settings.ts";
import { CopyButton } from "./copy-button.tsx";
import { ChevronIcon, ThoughtIcon } from "./icons.tsx";

/** What the model thought before a text. Long thoughts start closed, unless the settings want them open. */
export function Reasoning({ text }: { text: string }) {
  const [chosen, setOpen] = useState<boolean | undefined>();
  const open = chosen ?? (settings.value.reasoning === "open" || !isLongReasoning(text));
  return (
    <div class="reasoning" data-anchor>
      <div class="reasoning-head">
        <button type="button" class="disclosure" aria-expanded={open} onClick={() => setOpen(!open)}>
          <ThoughtIcon />
          <span>{words.value.log.reasoning}</span>
          {!open && <span class="faint">{lines(lineCount(text))}</span>}
          <ChevronIcon />
        </button>
        <CopyButton text={text} label={words.value.copy.copyReasoning} />
      </div>
      {open && <GrowingText text={text} />}
    </div>
  );
}

/** What of it is there already stays, with what is selected in it. */
function GrowingText({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (place.current !== null) write(place.current, text);
  }, [text]);
  return <div ref={place} class="reasoning-text" />;
}
