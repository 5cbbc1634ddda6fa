import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "../language.ts";
import { isCovered } from "../ui.ts";

/** Takes files that are dropped or pasted anywhere on the page. */
export function DropVeil({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const [over, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    let depth = 0;
    const show = (by: number): void => {
      depth = Math.max(0, depth + by);
      setOver(depth > 0);
    };
    const entered = (event: DragEvent): void => {
      if (hasFiles(event)) show(1);
    };
    const left = (event: DragEvent): void => {
      if (hasFiles(event)) show(-1);
    };
    const above = (event: DragEvent): void => {
      // Without this the browser would leave the app for the file.
      if (hasFiles(event)) event.preventDefault();
    };
    const dropped = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (!isCovered()) take.current([...(event.dataTransfer?.files ?? [])]);
    };
    const pasted = (event: ClipboardEvent): void => {
      const files = [...(event.clipboardData?.files ?? [])];
      // An office program puts a picture of the text beside the text itself.
      if (files.length === 0 || event.clipboardData?.types.includes("text/plain") || isCovered()) return;
      event.preventDefault();
      take.current(files);
    };
    addEventListener("dragenter", entered);
    addEventListener("dragleave", left);
    addEventListener("dragover", above);
    addEventListener("drop", dropped);
    addEventListener("paste", pasted);
    return () => {
      removeEventListener("dragenter", entered);
      removeEventListener("dragleave", left);
      removeEventListener("dragover", above);
      removeEventListener("drop", dropped);
      removeEventListener("paste", pasted);
    };
  }, []);
  return over ? <div class="drop-veil" aria-hidden="true"><span>{words.value.files.drop}</span></div> : null;
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
