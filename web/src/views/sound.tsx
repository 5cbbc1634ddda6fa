import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "../language.ts";
import { playTime } from "../media.ts";
import { PauseIcon, PlayIcon } from "./media-icons.tsx";

interface Props {
  readonly src: string | undefined;
  readonly name: string;
  /** Seconds, where they are known: a recording does not say in its file how long it is. */
  readonly duration: number | undefined;
  readonly onError?: () => void;
}

/** Only one at a time is heard. */
let playing: HTMLAudioElement | undefined;

export function Sound({ src, name, duration, onError }: Props) {
  const audio = useRef<HTMLAudioElement>(null);
  const [isOn, setOn] = useState(false);
  const [at, setAt] = useState(0);
  const [length, setLength] = useState(duration ?? 0);

  useEffect(() => () => audio.current?.pause(), []);
  const measured = (): void => {
    const found = audio.current?.duration;
    if (found !== undefined && Number.isFinite(found) && found > 0) setLength(found);
  };
  const toggle = (): void => {
    const element = audio.current;
    if (element === null) return;
    if (!element.paused) return element.pause();
    if (playing !== element) playing?.pause();
    playing = element;
    void element.play().catch(() => setOn(false));
  };
  const seek = (seconds: number): void => {
    if (audio.current !== null) audio.current.currentTime = seconds;
    setAt(seconds);
  };
  const { files } = words.value;
  return (
    <div class="sound" role="group" aria-label={name}>
      <audio
        ref={audio} src={src} preload={duration === undefined || duration === 0 ? "metadata" : "none"} onLoadedMetadata={measured} onDurationChange={measured}
        onPlay={() => setOn(true)} onPause={() => setOn(false)} onTimeUpdate={() => setAt(audio.current?.currentTime ?? 0)}
        onEnded={() => seek(0)} onError={() => src !== undefined && onError?.()}
      />
      <button type="button" class="round small" aria-label={isOn ? files.pause(name) : files.play(name)} onClick={toggle}>
        {isOn ? <PauseIcon /> : <PlayIcon />}
      </button>
      <input
        type="range" min={0} max={Math.max(length, 0.1)} step={0.1} value={Math.min(at, length)} disabled={length === 0} aria-label={files.position}
        aria-valuetext={files.positionAt(playTime(at), playTime(length))} onInput={(event) => seek(Number(event.currentTarget.value))}
      />
      <span class="sound-time">{playTime(isOn || at > 0 ? at : length)}</span>
    </div>
  );
}
