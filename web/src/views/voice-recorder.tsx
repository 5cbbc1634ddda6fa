import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "../language.ts";
import { playTime } from "../media.ts";
import { record } from "../voice.ts";
import type { Recording } from "../voice.ts";
import { CheckIcon, TrashIcon } from "./icons.tsx";

interface Props {
  readonly onDone: (file: File, seconds: number) => void;
  readonly onCancel: (complaint: string) => void;
}

/** Stands in place of the text while somebody speaks. */
export function VoiceRecorder({ onDone, onCancel }: Props) {
  const recording = useRef<Recording | undefined>(undefined);
  const done = useRef<HTMLButtonElement>(null);
  const [since, setSince] = useState<number | undefined>(undefined);
  const [, tick] = useState(0);

  useEffect(() => {
    let wanted = true;
    record().then((begun) => {
      if (!wanted) return begun.cancel();
      recording.current = begun;
      setSince(performance.now());
      done.current?.focus();
    }, (error: Error) => wanted && onCancel(error.message));
    const ticking = setInterval(() => tick((count) => count + 1), 100);
    return () => {
      wanted = false;
      clearInterval(ticking);
      recording.current?.cancel();
    };
  }, []);

  const finish = async (): Promise<void> => {
    const begun = recording.current;
    recording.current = undefined;
    const said = await begun?.stop();
    if (said !== undefined) onDone(said.file, said.seconds);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    onCancel("");
  };
  const { voice: w } = words.value;
  const level = recording.current?.level() ?? 0;
  return (
    <div class="recorder" role="group" aria-label={w.recording} onKeyDown={pressed}>
      <button type="button" class="icon-button" aria-label={w.cancel} title={words.value.common.cancelKey} onClick={() => onCancel("")}><TrashIcon /></button>
      <span class="record-dot" aria-hidden="true" />
      <span class="record-time" role="timer">{playTime(since === undefined ? 0 : (performance.now() - since) / 1000)}</span>
      <meter class="record-level" min={0} max={1} value={level} aria-label={w.loudness} />
      <button ref={done} type="button" class="round" aria-label={w.finish} title={w.finishShort} disabled={since === undefined} onClick={() => void finish()}>
        <CheckIcon />
      </button>
    </div>
  );
}
