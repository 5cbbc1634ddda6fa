import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { words } from "../language.ts";
import { CloseIcon } from "./icons.tsx";

interface Props {
  /** Names its title, to which it is labelled. */
  readonly id: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** What lies over everything else until it is closed: by its button, by Esc, or by a press beside it. */
export function Dialog({ id, title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => dialog.current?.close();
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={id} onClose={onClose} onClick={(event) => event.target === event.currentTarget && close()}>
      <div class="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="icon-button" aria-label={words.value.common.close} onClick={close}><CloseIcon /></button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
