import { useContext, useState } from "preact/hooks";
import { words } from "../language.ts";
import type { Lane } from "../model.ts";
import { showingModel } from "../ui.ts";
import { SessionContext } from "./context.ts";
import { CloseIcon } from "./icons.tsx";

const KEY = "iris.guide";

/** What the rehearsal can show next: above the composer until all of it was seen, or nobody wants it any more. */
export function Guide({ lane }: { lane: Lane }) {
  const session = useContext(SessionContext);
  const [ended, setEnded] = useState(() => localStorage.getItem(KEY) === "ended");
  const { guide: w } = words.value;
  const said = new Set(lane.entries.flatMap((entry) => (entry.kind === "message" && entry.role === "user" ? [entry.text] : [])));
  const left = w.steps.filter(({ say }) => !said.has(say));
  // A long conversation is none of somebody who has only just come.
  if (ended || lane.hasOlder || lane.entries.length === 0) return null;
  const end = (): void => {
    localStorage.setItem(KEY, "ended");
    setEnded(true);
  };
  return (
    <div class="guide" role="group" aria-label={w.title}>
      <ul>
        {left.map(({ label, say }) => (
          <li key={say}><button type="button" class="suggestion" onClick={() => session?.send(say)}>{label}</button></li>
        ))}
        <li><button type="button" class="suggestion strong" onClick={() => (showingModel.value = true)}>{w.connect}</button></li>
      </ul>
      <button type="button" class="icon-button" aria-label={w.end} title={w.end} onClick={end}><CloseIcon /></button>
    </div>
  );
}

/** The first steps, where nothing was said yet. */
export function FirstSteps() {
  const session = useContext(SessionContext);
  const { guide: w } = words.value;
  return (
    <>
      <ul aria-label={w.title}>
        {w.steps.map(({ label, say }) => (
          <li key={say}><button type="button" class="suggestion" onClick={() => session?.send(say)}>{label}</button></li>
        ))}
      </ul>
      <p class="after-steps"><button type="button" class="text-button" onClick={() => (showingModel.value = true)}>{w.connect}</button></p>
    </>
  );
}
