import { useContext } from "preact/hooks";
import { snapshot } from "../app.ts";
import { goTo, sayAgain } from "../deeds.ts";
import { writeDraft } from "../drafts.ts";
import { clock, duration, refusal, tokens } from "../format.ts";
import { words } from "../language.ts";
import { textOf } from "../live.ts";
import { quoteOf } from "../subjects.ts";
import type { MessageEntry, Pending, Quote } from "../model.ts";
import { hueOf } from "../room.ts";
import type { Footer, MineRow, Row } from "../rows.ts";
import { callComposer, toggleFold } from "../ui.ts";
import { Attachments } from "./attachment-view.tsx";
import { LaneContext, SessionContext } from "./context.ts";
import { CopyButton } from "./copy-button.tsx";
import { AlertIcon, ChevronIcon, ClockIcon, ReplyIcon, RetryIcon } from "./icons.tsx";
import { Markdown } from "./markdown.tsx";
import { Reasoning } from "./reasoning.tsx";
import { RequestRow } from "./request-card.tsx";
import { Said } from "./said.tsx";
import { ToolCard } from "./tools.tsx";

export function RowView({ row }: { row: Row }) {
  switch (row.kind) {
    case "mine": return <Mine row={row} />;
    case "fold": return <Fold row={row} />;
    case "said": return <Said entry={row.entry} sender={row.sender} first={row.first} />;
    case "answer": return <AgentText entry={row.entry} className="answer" />;
    case "remark": return <AgentText entry={row.entry} className="remark" />;
    case "notice": return <Notice entry={row.entry} />;
    case "cron": return <CronCard entry={row.entry} />;
    case "ask": return <RequestRow entry={row.entry} />;
    case "tools": return <ToolCard tools={row.tools} />;
    case "divider": return <div class="divider" role="separator" aria-label={words.value.log.newMessages}><span>{words.value.log.new}</span></div>;
    case "footer": return <TurnFooter footer={row.footer} />;
  }
}

function Mine({ row: { text, attachments, ts, pending, quote, refused } }: { row: MineRow }) {
  return (
    <article class={`mine ${refused ? "failed" : (pending?.state ?? "delivered")}`} aria-label={words.value.common.you} data-anchor>
      {quote !== undefined && <Quoted quote={quote} />}
      {attachments.length > 0 && <Attachments files={attachments} />}
      {text !== "" && <div class="bubble" title={clock(ts, Date.now())}>{text}</div>}
      {pending !== undefined && <Sending pending={pending} />}
    </article>
  );
}

/** What a message answers; a press leads there. */
function Quoted({ quote }: { quote: Quote }) {
  const session = useContext(SessionContext);
  const { chat_id } = useContext(LaneContext);
  const who = nameOf(quote);
  const address = quote.thread_id === undefined ? { chat_id } : { chat_id, thread_id: quote.thread_id };
  return (
    <button
      type="button" class="quote" title={quote.text} aria-label={words.value.messages.goToQuoted(who, quote.text)}
      onClick={() => session !== undefined && goTo(session, { address, order: quote.order })}
    >
      <QuoteIcon quote={quote} /><b>{who}</b><span>{quote.text}</span>
    </button>
  );
}

export function QuoteIcon({ quote }: { quote: Quote }) {
  return quote.role === "cron" ? <ClockIcon /> : <ReplyIcon />;
}

/** Whose message is quoted. */
export function nameOf({ role, name }: Quote): string {
  const { common } = words.value;
  return name ?? { user: common.you, assistant: common.agent, cron: common.unnamedReport, notice: common.notice }[role];
}

/** Holds what was taken back, for who wants to see it. */
function Fold({ row }: { row: Extract<Row, { kind: "fold" }> }) {
  return (
    <div class="fold" data-anchor>
      <button type="button" aria-expanded={row.open} onClick={() => toggleFold(row.key)}>
        <ChevronIcon /><span>{words.value.messages.takenBack(row.count)}</span>
      </button>
    </div>
  );
}

function Sending({ pending }: { pending: Pending }) {
  const session = useContext(SessionContext);
  const inRoom = snapshot.value.state.rooms[useContext(LaneContext).chat_id] !== undefined;
  const { common, log: w } = words.value;
  const sent = inRoom ? w.waitingForRoom : w.sent;
  if (pending.state !== "failed") return <div class="sending">{pending.state === "pending" ? w.notSentYet : sent}</div>;
  return (
    <div class="sending failed" role="alert">
      <AlertIcon />
      <span>{w.notSent}{pending.error !== undefined && refusal(pending.code ?? "", pending.error)}</span>
      <button type="button" class="text-button" onClick={() => session?.retry(pending.clientId)}>{common.retry}</button>
      <button type="button" class="text-button" onClick={() => session?.discard(pending.clientId)}>{w.discard}</button>
    </div>
  );
}

function AgentText({ entry, className }: { entry: MessageEntry; className: string }) {
  const live = entry.state === "live";
  const text = textOf(entry);
  return (
    <article class={className} aria-busy={live} aria-label={words.value.common.agent}>
      {entry.reasoning !== "" && <Reasoning text={entry.reasoning} />}
      {text !== "" && <Markdown text={text} live={live} />}
      {entry.attachments.length > 0 && <Attachments files={entry.attachments} />}
    </article>
  );
}

function Notice({ entry }: { entry: MessageEntry }) {
  return (
    <div class="notice" role="note" data-anchor>
      {entry.sender !== undefined && <b class={`hue-${hueOf(entry.sender.name)}`}>{entry.sender.own ? words.value.common.you : entry.sender.name}</b>}
      <Markdown text={entry.text} live={false} />
    </div>
  );
}

function CronCard({ entry }: { entry: MessageEntry }) {
  const address = useContext(LaneContext);
  const { common, copy, log: w } = words.value;
  const name = entry.job ?? common.unnamedReport;
  const reply = (): void => {
    writeDraft(address, { answers: quoteOf(entry) });
    callComposer();
  };
  return (
    <article class="cron" aria-label={w.reportOf(name)} data-anchor>
      <header>
        <span class="chip" title={name}><ClockIcon /><span>{name}</span></span>
        <time>{clock(entry.ts, Date.now())}</time>
        <CopyButton text={entry.text} label={copy.copyReport} />
      </header>
      {entry.text !== "" && <Markdown text={entry.text} live={false} />}
      {entry.attachments.length > 0 && <Attachments files={entry.attachments} />}
      <button type="button" class="reply" aria-label={w.replyTo(name)} onClick={reply}><ReplyIcon /><span>{w.reply}</span></button>
    </article>
  );
}

function TurnFooter({ footer }: { footer: Footer }) {
  const session = useContext(SessionContext);
  const { retry } = footer;
  const { log: w } = words.value;
  const facts = [
    footer.ending === "stopped" ? w.stopped : footer.ending === "interrupted" ? w.interrupted : undefined,
    footer.model,
    footer.tokens === undefined ? undefined : tokens(footer.tokens),
    footer.took === undefined ? undefined : duration(footer.took),
  ].filter((fact) => fact !== undefined);
  return (
    <div class="turn-end" title={clock(footer.ts, Date.now())} data-anchor>
      {footer.ending === "failed" && (
        <p class="turn-error"><AlertIcon /><span>{footer.error ?? w.failed}</span></p>
      )}
      {footer.ending === "interrupted" && footer.error !== undefined && (
        <p class="turn-error mild"><AlertIcon /><span>{footer.error}</span></p>
      )}
      {retry !== undefined && (
        <button type="button" class="retry" title={retry.text} onClick={() => session !== undefined && sayAgain(session, retry)}><RetryIcon /><span>{words.value.common.retry}</span></button>
      )}
      {facts.length > 0 && <p class="facts">{facts.map((fact) => <span key={fact}>{fact}</span>)}</p>}
    </div>
  );
}
