import { useRef } from "preact/hooks";
import { words } from "../language.ts";
import { CameraIcon, ClipIcon } from "./media-icons.tsx";

interface Props {
  readonly disabled: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Ways to files that need no mouse and no clipboard. */
export function AttachmentButtons({ disabled, onFiles }: Props) {
  const files = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const picked = (event: Event & { currentTarget: HTMLInputElement }): void => {
    onFiles([...(event.currentTarget.files ?? [])]);
    // The same file may be picked again.
    event.currentTarget.value = "";
  };
  const { files: w } = words.value;
  return (
    <div class="attach">
      <input ref={files} type="file" multiple hidden aria-label={w.choose} onChange={picked} />
      <input ref={camera} type="file" accept="image/*" capture="environment" hidden aria-label={w.takePicture} onChange={picked} />
      <button type="button" class="icon-button" aria-label={w.attach} title={w.attach} disabled={disabled} onClick={() => files.current?.click()}>
        <ClipIcon />
      </button>
      <button type="button" class="icon-button camera" aria-label={w.takePicture} title={w.camera} disabled={disabled} onClick={() => camera.current?.click()}>
        <CameraIcon />
      </button>
    </div>
  );
}
