import type { ComponentChildren } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { chosenFor, choose, isHeld, release, sendWhenReady } from "../attachments.ts";
import { buttonFace, meaningOf, objection } from "../composer.ts";
import { draftOf, dropDraft, stepBack, writeDraft } from "../drafts.ts";
import { words } from "../language.ts";
import { laneKey } from "../model.ts";
import { canRecord } from "../voice.ts";
import type { LaneAddress, Policy, RoomState } from "../model.ts";
import { settings } from "../settings.ts";
import { composerCalls, editing, sought } from "../ui.ts";
import { AttachmentButtons } from "./attachment-buttons.tsx";
import { AttachmentTray } from "./attachment-tray.tsx";
import { SessionContext } from "./context.ts";
import { DropVeil } from "./drop-veil.tsx";
import { AlertIcon, CloseIcon, PencilIcon, SendIcon, StopIcon } from "./icons.tsx";
import { MicIcon } from "./media-icons.tsx";
import { useMentions } from "./mentions.tsx";
import { nameOf, QuoteIcon } from "./rows.tsx";
import { useRoomTyping } from "./room-typing.ts";
import { VoiceRecorder } from "./voice-recorder.tsx";
import { SlashOffers, useCompletion } from "./slash-offers.tsx";

interface Props {
  readonly address: LaneAddress;
  readonly busy: boolean;
  readonly stopping: boolean;
  readonly connected: boolean;
  readonly policy: Policy | undefined;
  /** The room that is written to, if it is one. */
  readonly room: RoomState | undefined;
  /** Rooms take text only: neither files nor commands. */
  readonly isRoom: boolean;
  readonly placeholder: string;
  readonly recall: () => string | undefined;
  readonly onSent: () => void;
}

/** The calls that were followed; one that came while there was no composer is followed once there is one. */
let followedCalls = 0;

export function Composer({ address, busy, stopping, connected, policy, room, isRoom, placeholder, recall, onSent }: Props) {
  const session = useContext(SessionContext);
  const { common, composer: w, messages: m } = words.value;
  const key = laneKey(address);
  const { enter } = settings.value;
  const { text: draft, answers, edits } = draftOf(address);
  const [complaint, setComplaint] = useState("");
  const [recording, setRecording] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const files = chosenFor(address);
  const waits = isHeld(address);
  const nothing = draft.trim() === "" && files.length === 0 && (edits?.attachments.length ?? 0) === 0;

  const attach = (added: readonly File[], note?: number): void => {
    setComplaint(choose(address, added, policy, note) ?? "");
    field.current?.focus();
  };

  const change = (text: string): void => {
    writeDraft(address, { text });
    setComplaint("");
  };

  const mentions = useMentions(field, draft, room?.members ?? [], change);
  useRoomTyping(room?.chat_id, draft);

  const send = (): void => {
    if (nothing) return;
    const reason = objection(draft, policy);
    if (reason !== undefined) return setComplaint(reason);
    sendWhenReady(address, (attachments) => {
      const { text, answers: quote, edits: edited } = draftOf(address);
      session?.send(text, { quote, replaces: edited?.id, attachments: [...(edited?.attachments ?? []), ...attachments], address });
      dropDraft(address);
      if (edited !== undefined) writeDraft(address, edited.before);
      onSent();
    });
    field.current?.focus();
  };

  const completion = useCompletion(isRoom ? "" : draft, connected, change);
  const pressed = (event: KeyboardEvent): void => {
    if (mentions.pressed(event)) return;
    if (completion.pressed(event)) return;
    const meaning = meaningOf(event, draft, enter);
    if (meaning === "none") return;
    if (meaning === "recall") {
      const text = recall();
      if (text === undefined) return;
      change(text);
    } else {
      send();
    }
    event.preventDefault();
  };

  useLayoutEffect(() => grow(field.current), [draft]);
  useEffect(() => {
    setComplaint("");
    setRecording(false);
    // A phone would open its keyboard over what the person came to read, and a name that is being typed or a message that was found comes first.
    if (matchMedia("(hover: hover)").matches && editing.value === undefined && sought.value === undefined) field.current?.focus();
  }, [key]);
  const calls = composerCalls.value;
  useEffect(() => {
    if (calls === followedCalls) return;
    followedCalls = calls;
    field.current?.focus();
  }, [calls]);

  return (
    <footer class="composer">
      {complaint !== "" && <p class="complaint" role="alert"><AlertIcon /><span>{complaint}</span></p>}
      {edits !== undefined ? (
        <Aside label={m.stopEditing} title={m.stopEditingKey} onLeave={() => stepBack(address)}>
          <PencilIcon /><b>{m.editing}</b>{edits.attachments.length > 0 && <span class="said">{m.editingFiles(edits.attachments.length)}</span>}
        </Aside>
      ) : answers !== undefined && (
        <Aside label={w.cancelReply} title={w.cancelReplyKey} onLeave={() => stepBack(address)}>
          <span>{w.replyingTo}</span><QuoteIcon quote={answers} /><b>{nameOf(answers)}</b><span class="said">{answers.text}</span>
        </Aside>
      )}
      {!isRoom && <DropVeil onFiles={attach} />}
      {mentions.list}
      <SlashOffers completion={completion} />
      <AttachmentTray address={address} files={files} />
      {recording ? (
        <VoiceRecorder
          onDone={(file, seconds) => {
            setRecording(false);
            attach([file], seconds);
          }}
          onCancel={(why) => {
            setRecording(false);
            setComplaint(why);
            field.current?.focus();
          }}
        />
      ) : (
        <div class="composer-box">
          {!isRoom && <AttachmentButtons disabled={waits} onFiles={attach} />}
          <textarea
            ref={field} rows={1} value={draft} placeholder={answers === undefined ? placeholder : answers.role === "cron" ? w.toReport : m.toMessage} aria-label={w.message} enterkeyhint={enter === "sends" ? "send" : "enter"}
            {...(completion.offers.length > 0 ? completion.attributes : mentions.attributes)}
            readOnly={waits} onInput={(event) => change(event.currentTarget.value)} onKeyDown={pressed}
          />
          {nothing && !isRoom && canRecord() && (
            <button type="button" class="icon-button" aria-label={w.record} title={common.voiceMessage} onClick={() => setRecording(true)}><MicIcon /></button>
          )}
          {waits ? (
            <button type="button" class="round waiting" aria-label={w.waitNoLonger} title={w.waiting} onClick={() => release(address)}>
              <span class="spinner" />
            </button>
          ) : buttonFace(nothing, busy) === "stop" ? (
            <button
              type="button" class="round stop" aria-label={w.stop} title={w.stopKey}
              disabled={stopping || !connected} onClick={() => session?.stopTurn()}
            >
              <StopIcon />
            </button>
          ) : (
            <button type="button" class="round send" aria-label={w.send} title={enter === "sends" ? w.sendEnter : w.sendCtrlEnter} disabled={nothing} onClick={send}>
              <SendIcon />
            </button>
          )}
        </div>
      )}
      {waits && <p class="off-screen" role="status">{w.waitingSpoken}</p>}
    </footer>
  );
}

/** What is done besides writing, above the field, and the way out of it. */
function Aside({ label, title, onLeave, children }: { label: string; title: string; onLeave: () => void; children: ComponentChildren }) {
  return (
    <div class="replying">
      {children}
      <button type="button" aria-label={label} title={title} onClick={onLeave}><CloseIcon /></button>
    </div>
  );
}

function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
