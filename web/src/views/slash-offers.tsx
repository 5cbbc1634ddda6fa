import { useSignal } from "@preact/signals";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { fetchCommands, slashCommands } from "../commands.ts";
import { isComposingKey } from "../composer.ts";
import { words } from "../language.ts";
import { calledBy, offersFor } from "../slash.ts";
import type { Offer } from "../slash.ts";
import { SessionContext } from "./context.ts";

const LIST = "slash-offers";

export interface Completion {
  readonly offers: readonly Offer[];
  readonly active: number;
  /** What may follow the command that is being written. */
  readonly reminder: string | undefined;
  readonly take: (offer: Offer) => void;
  /** Whether the key was for the list. */
  readonly pressed: (event: KeyboardEvent) => boolean;
  /** What tells a screen reader of the list, for the field. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

/** Completes the slash command that is written in a field. */
export function useCompletion(draft: string, connected: boolean, change: (text: string) => void): Completion {
  const session = useContext(SessionContext);
  // A signal: keys that come faster than the list is drawn count each.
  const active = useSignal(0);
  const [closedFor, setClosedFor] = useState<string | undefined>();
  const writing = draft.startsWith("/");
  useEffect(() => {
    if (writing && connected && session !== undefined) void fetchCommands(session);
  }, [writing, connected, session]);
  useLayoutEffect(() => {
    active.value = 0;
  }, [draft]);
  const commands = writing ? slashCommands.value : [];
  const offers = closedFor === draft ? [] : offersFor(draft, commands, session?.current.directory).filter((offer) => offer.text !== draft);
  const called = offers.length === 0 ? calledBy(draft, commands) : undefined;
  const take = (offer: Offer): void => change(offer.text);

  const pressed = (event: KeyboardEvent): boolean => {
    if (offers.length === 0 || isComposingKey(event) || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
    const at = active.value;
    const chosen = offers[at];
    switch (event.key) {
      case "ArrowDown": active.value = (at + 1) % offers.length; break;
      case "ArrowUp": active.value = (at - 1 + offers.length) % offers.length; break;
      case "Escape": setClosedFor(draft); break;
      case "Enter":
        // A whole name needs no completion: Enter sends it.
        if (commands.some(({ name, aliases }) => `/${name}` === draft || (aliases ?? []).some((alias) => `/${alias}` === draft))) return false;
        if (chosen !== undefined) take(chosen);
        break;
      case "Tab": if (chosen !== undefined) take(chosen); break;
      default: return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  const attributes = {
    "aria-autocomplete": "list",
    "aria-controls": offers.length > 0 ? LIST : undefined,
    "aria-activedescendant": offers.length > 0 ? `${LIST}-${active.value}` : undefined,
  };
  const reminder = called?.args !== undefined && called.args !== "" ? `/${called.name} ${called.args}` : undefined;
  return { offers, active: active.value, reminder, take, pressed, attributes };
}

export function SlashOffers({ completion }: { completion: Completion }) {
  const { offers, active, reminder, take } = completion;
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, offers]);
  if (offers.length === 0) return reminder === undefined ? null : <p class="slash-reminder">{reminder}</p>;
  return (
    <ul ref={list} id={LIST} class="slash-offers" role="listbox" aria-label={words.value.composer.commands}>
      {offers.map((offer, at) => (
        <li
          key={offer.text} id={`${LIST}-${at}`} role="option" aria-selected={at === active} class="slash-offer"
          // Before the field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            take(offer);
          }}
        >
          <span class="slash-name">{offer.label}</span>
          {offer.hint !== "" && <span class="slash-args">{offer.hint}</span>}
          <span class="slash-about">{offer.about}</span>
        </li>
      ))}
    </ul>
  );
}
