import { useLayoutEffect, useRef } from "preact/hooks";
import { menuMove } from "../menu-keys.ts";
import { openMenu } from "../ui.ts";
import type { MenuItem, OpenMenu, Point } from "../ui.ts";
import { CheckIcon } from "./icons.tsx";

const MARGIN = 8;

/** The one menu that can be open. */
export default function Menu() {
  const shown = openMenu.value;
  return shown === undefined ? null : <Opened shown={shown} />;
}

function Opened({ shown }: { shown: OpenMenu }) {
  const box = useRef<HTMLDivElement>(null);
  const items = (): HTMLElement[] => [...(box.current?.querySelectorAll<HTMLElement>("button") ?? [])];

  useLayoutEffect(() => {
    const menu = box.current;
    if (menu === null) return;
    const { x, y } = fitting(shown.at, menu.getBoundingClientRect());
    menu.style.left = `${x}px`;
    menu.style.top = `${y}px`;
    items()[0]?.focus({ preventScroll: true });
  }, [shown]);

  const close = (): void => {
    openMenu.value = undefined;
    if (shown.from.isConnected) shown.from.focus({ preventScroll: true });
  };
  const pressed = (event: KeyboardEvent): void => {
    const buttons = items();
    const labels = buttons.map((button) => button.innerText);
    const move = menuMove(event, buttons.indexOf(document.activeElement as HTMLElement), labels);
    if (move.kind === "none") return;
    event.preventDefault();
    event.stopPropagation();
    if (move.kind === "close") close();
    else buttons[move.index]?.focus();
  };
  useLayoutEffect(() => {
    // Everywhere: after a long press the focus may be wherever the lifted finger put it.
    addEventListener("keydown", pressed, { capture: true });
    return () => removeEventListener("keydown", pressed, { capture: true });
  }, [shown]);
  const choose = (item: MenuItem): void => {
    close();
    item.run();
  };

  return (
    <section aria-label={shown.label}>
      <div class="menu-backdrop" onPointerDown={close} onContextMenu={(event) => event.preventDefault()} />
      <div ref={box} class="menu" role="menu" aria-label={shown.label} onContextMenu={(event) => event.preventDefault()}>
        {shown.groups.map((group) => (
          <div key={group.label} class="menu-group" role="group" aria-label={group.label}>
            {shown.groups.length > 1 && <div class="menu-heading" aria-hidden="true">{group.label}</div>}
            {group.items.map((item) => <Item key={item.key} item={item} onChoose={() => choose(item)} />)}
          </div>
        ))}
      </div>
    </section>
  );
}

function Item({ item, onChoose }: { item: MenuItem; onChoose: () => void }) {
  const checkable = item.checked !== undefined;
  return (
    <button
      type="button" tabIndex={-1} class={`menu-item ${item.dangerous ? "dangerous" : ""}`}
      role={checkable ? "menuitemcheckbox" : "menuitem"} aria-checked={item.checked} onClick={onChoose}
      onPointerMove={(event) => event.pointerType === "mouse" && event.currentTarget.focus()}
    >
      <item.icon />
      <span>{item.label}</span>
      {item.checked && <CheckIcon />}
    </button>
  );
}

/** The place nearest to the one that was asked for at which all of the menu can be seen. */
function fitting(at: Point, size: { readonly width: number; readonly height: number }): Point {
  const x = Math.max(MARGIN, Math.min(at.x, innerWidth - size.width - MARGIN));
  const y = Math.max(MARGIN, Math.min(at.y, innerHeight - size.height - MARGIN));
  return { x, y };
}
