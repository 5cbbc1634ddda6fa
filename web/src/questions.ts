/** What the agent or its host asks of the person: as an entry of a lane, and as it is told. */
import { words } from "./language.ts";
import { EMPTY_LANE, laneKey } from "./model.ts";
import type { AskEntry, Lane, LaneKey, State } from "./model.ts";
import type { Choice, Question, RequestCard, RequestClosed, RequestOpened } from "./protocol/frames.ts";

export function askEntry(frame: RequestOpened | RequestCard): AskEntry {
  const card = frame.type === "request" ? frame : undefined;
  return {
    kind: "ask",
    id: frame.request_id,
    order: frame.order,
    turnId: frame.turn_id,
    question: frame.question,
    outcome: card?.outcome,
    answer: card?.answer ?? "",
    by: card?.by_name,
    ts: frame.ts,
  };
}

export function withClosing(entry: AskEntry, frame: RequestClosed): AskEntry {
  return { ...entry, outcome: frame.outcome, answer: frame.answer ?? "", by: frame.by_name };
}

/** Lanes with what waits for an answer in each, as a greeting tells it: all of it, in any lane. */
export function withAsked(lanes: State["lanes"], cards: readonly RequestCard[]): State["lanes"] {
  const quiet = Object.entries(lanes).map(([key, lane]): [LaneKey, Lane] => [key, lane.asked.length > 0 ? { ...lane, asked: [] } : lane]);
  const next = Object.fromEntries(quiet);
  for (const card of cards) {
    const lane = next[laneKey(card)] ?? EMPTY_LANE;
    next[laneKey(card)] = { ...lane, asked: [...lane.asked, askEntry(card)] };
  }
  return next;
}

/** What a card is called. */
export function headingOf({ question }: AskEntry): string {
  switch (question.kind) {
    case "approval": return words.value.asked.allow;
    case "question": return words.value.asked.asks;
    case "confirm": return question.title;
    case "choice": return question.title;
  }
}

/** What a choice is called; a choice that only this question has is called as it came. */
export function labelOf({ kind }: Question, { value, label }: Choice): string {
  const own: Readonly<Record<string, Readonly<Record<string, string>>>> = words.value.asked.decisions;
  return own[kind]?.[value] ?? label;
}

/** How it ended, in one line. */
export function endingOf(entry: AskEntry): string {
  const { by, question } = entry;
  const { asked } = words.value;
  const choice = question.choices?.find(({ label }) => label === entry.answer);
  const answer = choice === undefined ? entry.answer : labelOf(question, choice);
  switch (entry.outcome) {
    case undefined: return asked.waiting;
    case "answered":
      if (answer === "") return by === undefined ? asked.answered : asked.answeredBy(by);
      return by === undefined ? answer : asked.answerBy(answer, by);
    case "dismissed":
      if (entry.question.kind === "question") return by === undefined ? asked.skipped : asked.skippedBy(by);
      return by === undefined ? asked.cancelled : asked.cancelledBy(by);
    case "expired": return asked.expired;
    case "withdrawn": return asked.withdrawn;
    case "interrupted": return asked.interrupted;
  }
}

export interface Group {
  readonly name: string;
  readonly choices: readonly Choice[];
}

/** The choices that fit what the person looks for, under their headings. */
export function groupsOf(choices: readonly Choice[], sought: string): readonly Group[] {
  const words = sought.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const groups = new Map<string, Choice[]>();
  for (const choice of choices) {
    const text = `${choice.group ?? ""} ${choice.label}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const name = choice.group ?? "";
    groups.set(name, [...(groups.get(name) ?? []), choice]);
  }
  return [...groups].map(([name, fitting]) => ({ name, choices: fitting }));
}

/** Time that is left, as a clock shows it: `4:32`. */
export function timeLeft(expiresAt: number, now: number): string {
  const seconds = Math.max(0, Math.round(expiresAt - now / 1000));
  if (seconds >= 3600) return words.value.time.hoursAndMinutes(Math.floor(seconds / 3600), String(Math.floor((seconds % 3600) / 60)));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
