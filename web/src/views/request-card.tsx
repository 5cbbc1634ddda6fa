import { useContext, useEffect, useState } from "preact/hooks";
import { words } from "../language.ts";
import type { AskEntry } from "../model.ts";
import type { Choice, RequestAnswer } from "../protocol/frames.ts";
import { endingOf, groupsOf, headingOf, labelOf, timeLeft } from "../questions.ts";
import { SessionContext } from "./context.ts";
import { AlertIcon, CheckIcon, ChoiceIcon, ClockIcon, QuestionIcon, ShieldIcon } from "./icons.tsx";
import { Markdown } from "./markdown.tsx";

/** More choices than this are looked through by typing. */
const FEW = 8;

type Given = Pick<RequestAnswer, "choices" | "text" | "dismiss">;

/** What waits for an answer in the open lane, above the composer: the oldest, and how many come after it. */
export function OpenRequests({ asked }: { asked: readonly AskEntry[] }) {
  const [first] = asked;
  return (
    <>
      <div class="off-screen" role="status" aria-live="polite">{first === undefined ? "" : spoken(first)}</div>
      {first !== undefined && <OpenCard key={first.id} entry={first} more={asked.length - 1} />}
    </>
  );
}

function spoken(entry: AskEntry): string {
  const about = [entry.question.title, entry.question.prompt, entry.question.detail].find((text) => text !== undefined && text !== "");
  return `${headingOf(entry)} ${about ?? ""}`;
}

function OpenCard({ entry, more }: { entry: AskEntry; more: number }) {
  const session = useContext(SessionContext);
  const [sending, setSending] = useState(false);
  const [complaint, setComplaint] = useState("");
  const { question } = entry;
  const answer = async (given: Given): Promise<void> => {
    if (session === undefined || sending) return;
    setSending(true);
    setComplaint("");
    const outcome = await session.request({ type: "request.answer", request_id: entry.id, ...given });
    setSending(false);
    if (!outcome.ok) setComplaint(outcome.message);
  };
  return (
    <section class="request" aria-label={headingOf(entry)} aria-busy={sending}>
      <header>
        <KindIcon kind={question.kind} />
        <h2>{headingOf(entry)}</h2>
        {more > 0 && <span class="faint">{words.value.asked.more(more)}</span>}
        {question.expires_at !== undefined && <Countdown until={question.expires_at} />}
      </header>
      <div class="request-text" tabIndex={0} role="group" aria-label={words.value.asked.what}>
        {question.kind === "approval" && question.title !== "" && <p class="request-why">{question.title}</p>}
        {(question.prompt ?? "") !== "" && <Markdown text={question.prompt ?? ""} live={false} />}
        {(question.detail ?? "") !== "" && <pre class="request-detail"><code>{question.detail}</code></pre>}
      </div>
      {complaint !== "" && <p class="complaint" role="alert"><AlertIcon /><span>{complaint}</span></p>}
      <Answers entry={entry} disabled={sending} onAnswer={(given) => void answer(given)} />
    </section>
  );
}

function Answers({ entry, disabled, onAnswer }: { entry: AskEntry; disabled: boolean; onAnswer: (given: Given) => void }) {
  const { question } = entry;
  const choices = question.choices ?? [];
  const choose = (choice: Choice): void => onAnswer({ choices: [choice.value] });
  const buttons = question.kind === "approval" || question.kind === "confirm";
  return (
    <div class="request-answers">
      {buttons && (
        <div class="request-buttons">
          {choices.map((choice) => (
            <button key={choice.value} type="button" class={`decision ${choice.style ?? "plain"}`} disabled={disabled} onClick={() => choose(choice)}>
              {labelOf(question, choice)}
            </button>
          ))}
        </div>
      )}
      {!buttons && choices.length > 0 && (question.multiple
        ? <Several choices={choices} disabled={disabled} onAnswer={onAnswer} />
        : <Options choices={choices} disabled={disabled} onChoose={choose} />)}
      {(question.free_text || question.dismissible) && (
        <OwnAnswer
          alone={choices.length === 0} text={question.free_text ?? false} dismiss={question.dismissible ?? false}
          asks={question.kind === "question"} disabled={disabled} onAnswer={onAnswer}
        />
      )}
    </div>
  );
}

function Options({ choices, disabled, onChoose }: { choices: readonly Choice[]; disabled: boolean; onChoose: (choice: Choice) => void }) {
  const [sought, setSought] = useState("");
  const groups = groupsOf(choices, sought);
  const { asked: w } = words.value;
  return (
    <>
      {choices.length > FEW && (
        <input
          type="search" class="request-search" value={sought} placeholder={w.find(choices.length)} aria-label={w.findLabel}
          onInput={(event) => setSought(event.currentTarget.value)}
        />
      )}
      <div class={`picks ${choices.length > FEW ? "" : "few"}`} onKeyDown={(event) => move(event)}>
        {groups.length === 0 && <p class="faint">{w.nothingFits}</p>}
        {groups.map((group) => (
          <div key={group.name} role="group" aria-label={group.name || w.choices}>
            {group.name !== "" && <div class="picks-head" aria-hidden="true">{group.name}</div>}
            {group.choices.map((choice) => (
              <button
                key={choice.value} type="button" class="pick" disabled={disabled} aria-current={choice.current ? "true" : undefined}
                onClick={() => onChoose(choice)}
              >
                <span>{choice.label}</span>
                {choice.current && <CheckIcon />}
              </button>
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

/** Arrows go from one choice to the next. */
function move(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || !(event.currentTarget instanceof HTMLElement)) return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>("button, input")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[at + step]?.focus();
  event.preventDefault();
}

function Several({ choices, disabled, onAnswer }: { choices: readonly Choice[]; disabled: boolean; onAnswer: (given: Given) => void }) {
  const [taken, setTaken] = useState<readonly string[]>([]);
  const toggle = (value: string): void => setTaken(taken.includes(value) ? taken.filter((other) => other !== value) : [...taken, value]);
  return (
    <form
      class="several" onKeyDown={move}
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ choices: choices.filter(({ value }) => taken.includes(value)).map(({ value }) => value) });
      }}
    >
      {choices.map((choice) => (
        <label key={choice.value} class="pick">
          <input type="checkbox" checked={taken.includes(choice.value)} disabled={disabled} onChange={() => toggle(choice.value)} />
          <span>{choice.label}</span>
        </label>
      ))}
      <button type="submit" class="decision primary" disabled={disabled || taken.length === 0}>
        {taken.length > 1 ? words.value.asked.answerWith(taken.length) : words.value.asked.answer}
      </button>
    </form>
  );
}

function OwnAnswer({ alone, text, dismiss, asks, disabled, onAnswer }: {
  alone: boolean; text: boolean; dismiss: boolean; asks: boolean; disabled: boolean; onAnswer: (given: Given) => void;
}) {
  const [own, setOwn] = useState("");
  const { asked: w, common } = words.value;
  return (
    <form
      class="own-answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (own.trim() !== "") onAnswer({ text: own });
      }}
    >
      {text && (
        <input
          type="text" value={own} disabled={disabled} placeholder={alone ? w.yourAnswer : w.somethingElse} aria-label={alone ? w.yourAnswer : w.anotherAnswer}
          onInput={(event) => setOwn(event.currentTarget.value)}
        />
      )}
      {text && own.trim() !== "" && <button type="submit" class="decision primary" disabled={disabled}>{w.answer}</button>}
      {dismiss && <button type="button" class="decision plain quiet" disabled={disabled} onClick={() => onAnswer({ dismiss: true })}>{asks ? w.skip : common.cancel}</button>}
    </form>
  );
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const over = until <= now / 1000;
  return (
    <span class={`countdown ${until - now / 1000 < 30 ? "soon" : ""}`} title={words.value.asked.until}>
      <ClockIcon /><span>{over ? words.value.asked.over : timeLeft(until, now)}</span>
    </span>
  );
}

/** What was asked, at its place in the conversation. */
export function RequestRow({ entry }: { entry: AskEntry }) {
  const { question, outcome } = entry;
  const { asked: w } = words.value;
  const about = named(question) || question.detail || question.prompt || question.title;
  const name = question.kind === "approval" ? w.approval : question.kind === "question" ? w.question : question.title;
  return (
    <article class={`asked ${outcome ?? "waiting"}`} aria-label={w.row(name, endingOf(entry))} data-anchor>
      <KindIcon kind={question.kind} />
      <div>
        <p class="asked-what">{about.split("\n").find((line) => line.trim() !== "")}</p>
        <p class="asked-how">{endingOf(entry)}</p>
      </div>
    </article>
  );
}

/** What asks about something that has a name is known by it. */
function named({ kind, title }: AskEntry["question"]): string {
  return kind === "confirm" || kind === "choice" ? title : "";
}

function KindIcon({ kind }: { kind: AskEntry["question"]["kind"] }) {
  switch (kind) {
    case "approval": return <ShieldIcon />;
    case "question": return <QuestionIcon />;
    case "confirm": return <AlertIcon />;
    case "choice": return <ChoiceIcon />;
  }
}
