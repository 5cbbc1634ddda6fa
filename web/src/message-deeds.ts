/** What a person does to a message, from the press to the word about how it went. */
import { copyText } from "./clipboard.ts";
import { sayAgain } from "./deeds.ts";
import { draftOf, writeDraft } from "./drafts.ts";
import { words } from "./language.ts";
import type { MessageDeed } from "./message-menu.ts";
import type { LaneAddress } from "./model.ts";
import { linkTo } from "./navigation.ts";
import { plainText } from "./plain-text.ts";
import type { MineRow } from "./rows.ts";
import type { Session } from "./session.ts";
import type { Subject } from "./subjects.ts";
import { callComposer, showToast } from "./ui.ts";

/** `last` is what the person said last here; `element` shows the message. */
export function performOn(session: Session, address: LaneAddress, deed: MessageDeed, subject: Subject, last: MineRow | undefined, element: Element): void {
  const { quote, text, mine } = subject;
  const { messages: w } = words.value;
  switch (deed) {
    case "reply":
      writeDraft(address, { answers: quote });
      return callComposer();
    case "edit":
      return mine === undefined ? undefined : edit(address, mine);
    case "retry":
      return last === undefined ? undefined : sayAgain(session, last);
    case "copy":
      return copied(mine === undefined ? (plainText(text)) : text, w.copied);
    case "copyMarkdown":
      return copied(text, w.copied);
    case "link":
      return quote === undefined ? undefined : copied(linkTo(address, quote.order), w.linkCopied);
    case "select":
      return select(element);
    case "hide":
      return void hide(session, quote?.message_id ?? "");
    case "discard":
      return mine === undefined ? undefined : session.discard(mine.key);
  }
}

function edit(address: LaneAddress, { id, text, attachments, quote }: MineRow): void {
  const { text: before, answers, edits } = draftOf(address);
  if (id !== undefined) writeDraft(address, { text, answers: quote, edits: { id, attachments, before: edits?.before ?? { text: before, answers } } });
  callComposer();
}

function copied(text: string, word: string): void {
  void copyText(text).then((done) => (done ? showToast(word) : showToast(words.value.copy.failed, { tone: "bad" })));
}

/** Marks the text, for a finger to choose a part of it. */
function select(element: Element): void {
  element.classList.add("selectable");
  getSelection()?.selectAllChildren(element.querySelector(".bubble, .markdown") ?? element);
}

async function hide(session: Session, id: string): Promise<void> {
  const { lanes, messages: w } = words.value;
  const outcome = await session.setHidden(id, true);
  if (!outcome.ok) return showToast(outcome.message, { tone: "bad" });
  const undo = async (): Promise<void> => {
    const back = await session.setHidden(id, false);
    if (!back.ok) showToast(back.message, { tone: "bad" });
  };
  showToast(w.hidden, { action: { label: lanes.undo, run: () => void undo() } });
}
