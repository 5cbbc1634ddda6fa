import { useSignal } from "@preact/signals";
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { snapshot } from "../app.ts";
import { isComposingKey } from "../composer.ts";
import { words } from "../language.ts";
import { carryOut, goTo } from "../deeds.ts";
import { addressOf, laneKey } from "../model.ts";
import type { Channel, Hit } from "../model.ts";
import { commandsLike } from "../palette.ts";
import type { Command } from "../palette.ts";
import { Finder, laneOfHit, NOTHING } from "../search.ts";
import type { Findings, Order } from "../search.ts";
import { shortcutOf } from "../shortcuts.ts";
import "../styles/search.css";
import { lanesLike, lanesToGo } from "../switcher.ts";
import { searching } from "../ui.ts";
import type { Scope } from "../ui.ts";
import { later } from "../words/later.ts";
import { SessionContext } from "./context.ts";
import { CloseIcon, SearchIcon } from "./icons.tsx";
import { CommandOption, HitOption, LaneOption, optionId } from "./search-options.tsx";
import { SearchState } from "./search-state.tsx";
import { SessionReading } from "./session-reading.tsx";

/** How near to the end of the list the next page is fetched. */
const NEAR = 400;

type Item =
  | { readonly kind: "lane"; readonly entry: Channel }
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "hit"; readonly hit: Hit };

export default function SearchDialog() {
  const session = useContext(SessionContext);
  const { state, link } = snapshot.value;
  const open = state.openLane;
  const connected = link.kind === "open";
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState("");
  const [scope, setScope] = useState<Scope>(searching.value?.scope ?? "all");
  const [order, setOrder] = useState<Order>("newest");
  const [findings, setFindings] = useState<Findings>(NOTHING);
  // A signal: keys that come faster than the list is drawn count each.
  const active = useSignal(0);
  const [reading, setReading] = useState<string | undefined>();

  const finder = useMemo(() => new Finder(
    (delay, work) => {
      const timer = setTimeout(work, delay);
      return () => clearTimeout(timer);
    },
    (request) => session?.request(request) ?? Promise.resolve({ ok: false, message: "" }),
    setFindings,
  ), [session]);
  useEffect(() => () => finder.stop(), [finder]);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useLayoutEffect(() => {
    if (reading === undefined) field.current?.focus();
  }, [reading]);
  const where = scope === "all" ? {} : scope === "chat" ? { chat_id: open.chat_id } : addressOf(open);
  useLayoutEffect(() => {
    active.value = 0;
  }, [query, order, scope, laneKey(open)]);
  useEffect(() => {
    finder.look({ query, order, scope: scope === "all" ? "all" : "chat", ...where });
  }, [query, order, scope, laneKey(open)]);
  useEffect(() => {
    if (connected) finder.retry();
  }, [connected]);

  const lanes = useMemo(() => {
    if (scope !== "all") return [];
    return query.trim() === "" ? lanesToGo(state) : lanesLike(state.directory, query);
  }, [state, query, scope]);
  const commands = scope === "all" ? commandsLike(query) : [];
  const items: Item[] = [
    ...lanes.map((entry) => ({ kind: "lane", entry }) as const),
    ...commands.map((command) => ({ kind: "command", command }) as const),
    ...findings.hits.map((hit) => ({ kind: "hit", hit }) as const),
  ];
  const activeAt = (): number => Math.min(active.value, items.length - 1);
  const at = activeAt();
  const activate = (index: number): void => {
    active.value = index;
  };

  const close = (): void => dialog.current?.close();
  const choose = (item: Item | undefined): void => {
    if (item === undefined || session === undefined) return;
    if (item.kind === "lane") {
      close();
      return session.openLane(addressOf(item.entry));
    }
    if (item.kind === "command") {
      close();
      // Once this dialog is gone, and has given the focus back.
      return void setTimeout(() => carryOut(session, item.command));
    }
    const address = laneOfHit(item.hit);
    if (address === undefined) return setReading(item.hit.session_id);
    close();
    goTo(session, { address, order: item.hit.order });
  };
  const move = (step: number): void => {
    if (items.length === 0) return;
    const wanted = activeAt() + step;
    const next = Math.max(0, Math.min(items.length - 1, wanted));
    if (wanted >= items.length) finder.more();
    activate(next);
    document.getElementById(optionId(next))?.scrollIntoView({ block: "nearest" });
  };
  const typed = (event: KeyboardEvent): void => {
    if (isComposingKey(event)) return;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") choose(items[activeAt()]);
    else return;
    event.preventDefault();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (isComposingKey(event)) return;
    const shortcut = shortcutOf(event);
    if (event.key === "Escape" && reading !== undefined) setReading(undefined);
    else if (shortcut === "searchHere") setScope("chat");
    else if (shortcut === "searchAll") setScope("all");
    else if (shortcut !== "switch") return;
    event.preventDefault();
    field.current?.select();
  };
  const fetchMore = (): void => {
    const box = list.current;
    if (box !== null && box.scrollHeight - box.scrollTop - box.clientHeight < NEAR) finder.more();
  };
  useEffect(fetchMore, [findings]);

  const { common } = words.value;
  const { search: w } = later.value;
  return (
    <dialog
      ref={dialog} class="dialog search" aria-label={w.search} onClose={() => (searching.value = undefined)} onKeyDown={pressed}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      {reading !== undefined && <SessionReading id={reading} onBack={() => setReading(undefined)} />}
      <div class="search-body" hidden={reading !== undefined}>
        <div class="search-bar">
          <SearchIcon />
          <input
            ref={field} type="text" role="combobox" aria-label={w.search} aria-autocomplete="list" aria-controls="search-list"
            aria-expanded={items.length > 0} aria-activedescendant={at >= 0 ? optionId(at) : undefined} autocomplete="off" autocapitalize="off"
            spellcheck={false} enterkeyhint="search" placeholder={scope === "all" ? w.placeholder : w.placeholderHere} value={query}
            onInput={(event) => setQuery(event.currentTarget.value)} onKeyDown={typed}
          />
          <button type="button" class="icon-button" aria-label={common.close} title={common.closeKey} onClick={close}><CloseIcon /></button>
        </div>
        <div class="search-choices">
          <Choice
            label={w.where} chosen={scope} onChoose={setScope}
            options={[["all", w.everything], ["chat", w.thisChat], ...(open.thread_id === undefined ? [] : [["thread", w.thisTopic] as const])]}
          />
          <Choice label={w.order} chosen={order} onChoose={setOrder} options={[["newest", w.newest], ["best", w.best]]} />
        </div>
        <div ref={list} class="search-results" tabIndex={0} role="region" aria-label={w.results} onScroll={fetchMore}>
          {items.length > 0 && (
            <div id="search-list" role="listbox" aria-label={w.results}>
              {lanes.length > 0 && (
                <div role="group" aria-label={w.goTo}>
                  <div class="search-head" aria-hidden="true">{w.goTo}</div>
                  {lanes.map((entry, index) => (
                    <LaneOption
                      key={laneKey(entry)} entry={entry} index={index} active={index === at} onActive={activate}
                      onChoose={() => choose({ kind: "lane", entry })}
                    />
                  ))}
                </div>
              )}
              {commands.length > 0 && (
                <div role="group" aria-label={later.value.commandsTitle}>
                  <div class="search-head" aria-hidden="true">{later.value.commandsTitle}</div>
                  {commands.map((command, offset) => (
                    <CommandOption
                      key={command} command={command} index={lanes.length + offset} active={lanes.length + offset === at} onActive={activate}
                      onChoose={() => choose({ kind: "command", command })}
                    />
                  ))}
                </div>
              )}
              {findings.hits.length > 0 && (
                <div role="group" aria-label={w.messages} aria-busy={findings.state === "searching"}>
                  <div class="search-head" aria-hidden="true">{w.messages}</div>
                  {findings.hits.map((hit, offset) => {
                    const index = lanes.length + commands.length + offset;
                    return (
                      <HitOption
                        key={`${index}/${hit.message_id ?? hit.session_id}`} hit={hit} index={index} active={index === at} onActive={activate}
                        onChoose={() => choose({ kind: "hit", hit })}
                      />
                    );
                  })}
                </div>
              )}
            </div>
          )}
          <SearchState findings={findings} query={query.trim()} scope={scope} connected={connected} onRetry={() => finder.retry()} onWiden={() => setScope("all")} />
        </div>
      </div>
    </dialog>
  );
}

function Choice<T extends string>({ label, options, chosen, onChoose }: {
  label: string; options: readonly (readonly [T, string])[]; chosen: T; onChoose: (value: T) => void;
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>{text}</button>
      ))}
    </div>
  );
}
