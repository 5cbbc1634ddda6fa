import { useEffect, useRef, useState } from "preact/hooks";
import "../styles/lightbox.css";
import { words } from "../language.ts";
import { addressOfDownload, addressOfFile, fileSize } from "../media.ts";
import { turnPage, viewing } from "../viewing.ts";
import { AT_REST, moved, zoomed } from "../zoom.ts";
import type { Point } from "../ui.ts";
import { CloseIcon } from "./icons.tsx";
import { DownloadIcon, NextIcon, PreviousIcon } from "./media-icons.tsx";

const STEP = 1.5;
/** Pixels that a finger moves to the side until the next picture comes. */
const SWIPE = 60;
/** Pixels up to which it has not moved. */
const TREMOR = 6;

/** One picture, as large as one likes. */
export default function Lightbox() {
  const dialog = useRef<HTMLDialogElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const fingers = useRef(new Map<number, Point>());
  const swiped = useRef(0);
  const beside = useRef(false);
  const [place, setPlace] = useState(AT_REST);
  const { pictures, at } = viewing.value ?? { pictures: [], at: 0 };
  const picture = pictures[at];

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => setPlace(AT_REST), [picture?.id]);
  if (picture === undefined) return null;

  const close = (): void => dialog.current?.close();
  const middle = (): Point => ({ x: 0, y: 0 });
  /** A point of the screen, measured from the middle of the stage. */
  const onStage = (event: { clientX: number; clientY: number }): Point => {
    const box = stage.current?.getBoundingClientRect();
    return box === undefined ? middle() : { x: event.clientX - box.left - box.width / 2, y: event.clientY - box.top - box.height / 2 };
  };
  const pressed = (event: KeyboardEvent): void => {
    const action = {
      ArrowLeft: () => turnPage(-1), ArrowRight: () => turnPage(1), "0": () => setPlace(AT_REST),
      "+": () => setPlace(zoomed(place, STEP, middle())), "=": () => setPlace(zoomed(place, STEP, middle())), "-": () => setPlace(zoomed(place, 1 / STEP, middle())),
    }[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };
  const down = (event: PointerEvent): void => {
    stage.current?.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, onStage(event));
    swiped.current = 0;
    // Asked here: from now on the stage is the target of everything that this pointer does.
    beside.current = event.target === event.currentTarget && fingers.current.size === 1;
  };
  const move = (event: PointerEvent): void => {
    const before = fingers.current.get(event.pointerId);
    if (before === undefined) return;
    const now = onStage(event);
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    fingers.current.set(event.pointerId, now);
    if (other !== undefined) {
      const [was, is] = [distance(before, other), distance(now, other)];
      if (was > 0) setPlace((old) => zoomed(old, is / was, { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }));
    } else if (place.scale > 1) {
      setPlace((old) => moved(old, now.x - before.x, now.y - before.y));
    } else {
      swiped.current += now.x - before.x;
    }
  };
  const up = (event: PointerEvent): void => {
    fingers.current.delete(event.pointerId);
    if (event.type === "pointerup" && place.scale === 1) {
      if (Math.abs(swiped.current) > SWIPE) turnPage(swiped.current < 0 ? 1 : -1);
      else if (beside.current && Math.abs(swiped.current) < TREMOR) close();
    }
    swiped.current = 0;
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    setPlace(zoomed(place, Math.exp(-event.deltaY / 300), onStage(event)));
  };
  const doubled = (event: MouseEvent): void => setPlace(place.scale > 1 ? AT_REST : zoomed(place, 2.5, onStage(event)));

  const { common, files } = words.value;
  return (
    <dialog ref={dialog} class="lightbox" aria-label={picture.name} onClose={() => (viewing.value = undefined)} onKeyDown={pressed}>
      <header>
        <span class="lightbox-words"><b>{picture.name}</b><span>{fileSize(picture.size)}{pictures.length > 1 && ` · ${files.pictureOf(at + 1, pictures.length)}`}</span></span>
        <a class="icon-button" href={addressOfDownload(picture.id)} download={picture.name} aria-label={files.download(picture.name)} title={common.download}><DownloadIcon /></a>
        <button type="button" class="icon-button" aria-label={common.close} title={common.closeKey} onClick={close}><CloseIcon /></button>
      </header>
      <div
        ref={stage} class={`stage ${place.scale > 1 ? "zoomed" : ""}`} onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up}
        onWheel={wheel} onDblClick={doubled}
      >
        <img
          src={addressOfFile(picture.id)} alt={picture.name} draggable={false}
          style={{ transform: `translate(${place.x}px, ${place.y}px) scale(${place.scale})` }}
        />
      </div>
      {pictures.length > 1 && (
        <>
          <button type="button" class="round turn previous" aria-label={files.previousPicture} disabled={at === 0} onClick={() => turnPage(-1)}><PreviousIcon /></button>
          <button type="button" class="round turn next" aria-label={files.nextPicture} disabled={at === pictures.length - 1} onClick={() => turnPage(1)}><NextIcon /></button>
        </>
      )}
    </dialog>
  );
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
