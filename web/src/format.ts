/** Numbers, times and texts as people read them. */
import { computed } from "@preact/signals";
import { locale, words } from "./language.ts";
import type { Message } from "./protocol/frames.ts";

// A formatter takes longer to make than all of what it then writes on a page.
const times = formatter({ hour: "2-digit", minute: "2-digit" });
const days = formatter({ day: "numeric", month: "short" });
const daysOfYears = formatter({ day: "numeric", month: "short", year: "numeric" });
const weekdays = formatter({ weekday: "short", day: "numeric", month: "short" });

function formatter(options: Intl.DateTimeFormatOptions): (moment: Date) => string {
  const made = computed(() => new Intl.DateTimeFormat(locale.value, options));
  return (moment) => made.value.format(moment);
}

/** Below this many seconds a time is told in tenths. */
export const TENTHS = 9.95;

/** `0.4 s`, `12 s`, `3 min 05 s`, `1 h 02 min`. */
export function duration(seconds: number): string {
  const positive = Math.max(0, seconds);
  const { time } = words.value;
  if (positive < TENTHS) return time.seconds(positive.toFixed(1));
  const whole = Math.round(positive);
  if (whole < 60) return time.seconds(String(whole));
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return time.minutesAndSeconds(minutes, twoDigits(whole % 60));
  return time.hoursAndMinutes(Math.floor(minutes / 60), twoDigits(minutes % 60));
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

export function tokens(count: number): string {
  return words.value.counts.tokens(count, written(count));
}

export function lines(count: number): string {
  return words.value.counts.lines(count, written(count));
}

/** A whole number, with the marks that make a large one readable. */
export function written(count: number): string {
  return count.toLocaleString(locale.value);
}

/** The time of day, with the date before it when that is not today. */
export function clock(seconds: number, now: number): string {
  const moment = new Date(seconds * 1000);
  const time = times(moment);
  const today = moment.toDateString() === new Date(now).toDateString();
  if (today) return time;
  const thisYear = moment.getFullYear() === new Date(now).getFullYear();
  return words.value.time.onDay((thisYear ? days : daysOfYears)(moment), time);
}

/** When something will be: `today, 08:00`, `Tue 1 Dec, 02:00`. */
export function appointment(seconds: number, now: number): string {
  const moment = new Date(seconds * 1000);
  const time = times(moment);
  if (moment.toDateString() === new Date(now).toDateString()) return words.value.time.today(time);
  return words.value.time.onDay(weekdays(moment), time);
}

const LONG_REASONING_LINES = 12;
const LETTERS_PER_LINE = 95;

/** Lines that a text takes in the column, about. */
export function lineCount(text: string): number {
  return text.split("\n").reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / LETTERS_PER_LINE)), 0);
}

export function isLongReasoning(text: string): boolean {
  return lineCount(text) > LONG_REASONING_LINES;
}

/** How a tool's arguments are shown: a lone command as the code that it is, everything else as JSON. */
export function toolArguments(args: Readonly<Record<string, unknown>>): { language: string; text: string } {
  const names = Object.keys(args);
  if (names.length === 1 && typeof args["command"] === "string") return { language: "bash", text: args["command"] };
  return { language: "json", text: JSON.stringify(args, null, 2) };
}

/** The fields that the gateway names in its errors, as a person knows them; in English, like the errors themselves. */
const FIELDS: Readonly<Record<string, string>> = {
  attachments: "the file",
  chat_id: "the channel",
  job_id: "the job",
  name: "the name",
  parent_chat_id: "the channel",
  reply_to: "the report",
  text: "the text",
  thread_id: "the topic",
};

/** A line of the gateway as a sentence of the app: a capital in front, a full stop behind, no marks of Markdown. */
export function sentence(line: string): string {
  const plain = line.trim().replaceAll("`", "").replace(/\$\.(\w+)(?:\[\d+\])?/g, (_, field: string) => FIELDS[field] ?? field);
  const ended = /[.!?。！？]$/.test(plain) ? plain : `${plain}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

/** Who speaks, where no name is known. */
export function roleName(role: Message["role"]): string {
  const { common } = words.value;
  return { user: common.you, assistant: common.agent, cron: common.report, notice: common.notice }[role];
}

/** What the gateway refused, and why. A code that is not known here leaves it to the gateway to say. */
export function refusal(code: string, message: string): string {
  const said = sentence(message);
  const known: Readonly<Record<string, (said: string) => string>> = words.value.requests.refused;
  return known[code]?.(said) ?? said;
}

/** Characters as the server counts them: code points, not UTF-16 units. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** What is left of a short time, given in milliseconds, as a clock shows it. */
export function remaining(left: number): string {
  const seconds = Math.max(0, Math.ceil(left / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
