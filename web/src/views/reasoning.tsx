import { useState } from "preact/hooks";
import { isLongReasoning, lineCount, lines } from "../format.ts";
import { words } from "../language.ts";
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
      {open && <div class="reasoning-text">{text}</div>}
    </div>
  );
}
