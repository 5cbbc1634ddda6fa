import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { isComposingKey } from "../composer.ts";
import { words } from "../language.ts";
import { membersLike, mentionAt, withMention } from "../mentions.ts";
import type { Member } from "../model.ts";
import { Face } from "./face.tsx";
import { Mark } from "./said.tsx";

const LIST = "mention-list";

export interface Mentions {
  /** The list of those who may be meant, to stand above the field. */
  readonly list: VNode | null;
  /** What the field tells of the list to those who cannot see it. */
  readonly attributes: Record<string, string | undefined>;
  /** Whether a key was meant for the list. */
  readonly pressed: (event: KeyboardEvent) => boolean;
}

/** Completes the name behind an @ in a field. Without members there is nobody to mention. */
export function useMentions(
  field: { readonly current: HTMLTextAreaElement | null }, draft: string, members: readonly Member[], change: (text: string) => void,
): Mentions {
  // A signal: keys that come faster than the list is drawn count each.
  const active = useSignal(0);
  const [closedAt, setClosedAt] = useState<number | undefined>();
  const [, setCaret] = useState(0);
  const isRoom = members.length > 0;
  useEffect(() => {
    if (!isRoom) return undefined;
    // The caret also moves without the text.
    const moved = (): void => {
      if (document.activeElement === field.current) setCaret(field.current?.selectionStart ?? 0);
    };
    document.addEventListener("selectionchange", moved);
    return () => document.removeEventListener("selectionchange", moved);
  }, [isRoom]);

  const caret = field.current?.selectionStart ?? draft.length;
  const mention = isRoom ? mentionAt(draft, Math.min(caret, draft.length)) : undefined;
  const isOpen = mention !== undefined && mention.from !== closedAt;
  const found = isOpen ? membersLike(members, mention.letters) : [];
  const at = (): number => Math.min(active.value, found.length - 1);
  const chosen = at();
  useLayoutEffect(() => {
    active.value = 0;
  }, [mention?.letters]);
  useEffect(() => {
    if (mention === undefined) setClosedAt(undefined);
  }, [mention === undefined]);

  const choose = (member: Member | undefined): void => {
    const element = field.current;
    if (mention === undefined || member === undefined || element === null) return;
    const next = withMention(draft, mention, member.name);
    // By hand, and at once: what is drawn next asks the field where its caret is.
    element.value = next.text;
    element.setSelectionRange(next.caret, next.caret);
    element.focus();
    change(next.text);
  };
  const pressed = (event: KeyboardEvent): boolean => {
    if (found.length === 0 || isComposingKey(event) || event.ctrlKey || event.altKey || event.metaKey) return false;
    switch (event.key) {
      case "ArrowDown": active.value = (at() + 1) % found.length; break;
      case "ArrowUp": active.value = (at() - 1 + found.length) % found.length; break;
      case "Enter":
      case "Tab":
        if (event.shiftKey) return false;
        choose(found[at()]);
        break;
      case "Escape": setClosedAt(mention?.from); break;
      default: return false;
    }
    event.preventDefault();
    return true;
  };

  if (found.length === 0) return { list: null, attributes: {}, pressed };
  const list = (
    <ul id={LIST} class="mentions" role="listbox" aria-label={words.value.composer.members}>
      {found.map((member, index) => (
        <li
          key={member.name} id={`${LIST}-${index}`} role="option" aria-selected={index === chosen} class={member.here ? "" : "away"}
          onPointerDown={(event) => event.preventDefault()} onPointerMove={() => (active.value = index)} onClick={() => choose(member)}
        >
          <Face name={member.name} kind={member.kind} />
          <span class="member-name">{member.name}</span>
          <Mark kind={member.kind} />
          {!member.here && <span class="faint">{words.value.room.notHere}</span>}
        </li>
      ))}
    </ul>
  );
  return { list, attributes: { "aria-autocomplete": "list", "aria-controls": LIST, "aria-activedescendant": `${LIST}-${chosen}` }, pressed };
}
