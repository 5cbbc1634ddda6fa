/** Completing slash commands: what is offered for a text, and what the text becomes. */
import { channelsInOrder, pathOf, threadsOf } from "./directory.ts";
import type { Channel } from "./model.ts";
import type { SlashCommand } from "./protocol/frames.ts";

export interface Offer {
  /** What the text becomes. */
  readonly text: string;
  readonly label: string;
  readonly hint: string;
  readonly about: string;
}

const MOST_OFFERS = 50;
const DELIVER = /^(\/cron\s.*--deliver[\s=]+)"?([^"]*)$/is;

/** Empty where nothing is to be completed. A name that begins so comes before one that only holds it. */
export function offersFor(text: string, commands: readonly SlashCommand[], directory: readonly Channel[] = []): readonly Offer[] {
  const delivered = DELIVER.exec(text);
  if (delivered !== null) return targetsFor(delivered[1] ?? "", delivered[2] ?? "", directory);
  const typed = /^\/([\w-]*)$/.exec(text);
  if (typed !== null) return namesFor((typed[1] ?? "").toLowerCase(), commands).slice(0, MOST_OFFERS);
  const called = /^\/([\w-]+)\s+([\w-]*)$/.exec(text);
  if (called === null) return [];
  const [, name = "", begun = ""] = called;
  const command = commands.find((candidate) => names(candidate).includes(name.toLowerCase()));
  return (command?.subcommands ?? [])
    .filter((word) => word.startsWith(begun.toLowerCase()) && word !== begun)
    .map((word) => ({ text: `/${name} ${word}`, label: word, hint: "", about: "" }));
}

/** Where a job can report: by name for the person, by address for the host, so that another name later changes nothing. */
function targetsFor(head: string, begun: string, directory: readonly Channel[]): readonly Offer[] {
  const name = begun.replace(/^android:/i, "").toLowerCase();
  return channelsInOrder(directory)
    .filter((channel) => channel.kind !== "room")
    .flatMap((channel) => [channel, ...threadsOf(directory, channel.chat_id)])
    .map((entry) => ({ label: pathOf(directory, entry), address: ["android", entry.chat_id, ...(entry.thread_id === undefined ? [] : [entry.thread_id])].join(":") }))
    .filter(({ label }) => label.toLowerCase().includes(name))
    .map(({ label, address }) => ({ text: `${head}${address}`, label, hint: "", about: address }))
    .slice(0, MOST_OFFERS);
}

function namesFor(begun: string, commands: readonly SlashCommand[]): readonly Offer[] {
  const ranked = commands
    .map((command) => ({ command, rank: rankOf(command, begun) }))
    .filter(({ rank }) => rank < Infinity);
  // The host's own order within a rank: it lists what is used most first.
  ranked.sort((a, b) => a.rank - b.rank);
  return ranked.map(({ command }) => ({
    text: takesMore(command) ? `/${command.name} ` : `/${command.name}`,
    label: `/${command.name}`,
    hint: command.args ?? "",
    about: command.description,
  }));
}

function rankOf(command: SlashCommand, begun: string): number {
  if (command.name === begun) return 0;
  if (command.name.startsWith(begun)) return 1;
  if ((command.aliases ?? []).some((alias) => alias.startsWith(begun))) return 2;
  return begun.length > 1 && command.name.includes(begun) ? 3 : Infinity;
}

function names(command: SlashCommand): readonly string[] {
  return [command.name, ...(command.aliases ?? [])];
}

function takesMore(command: SlashCommand): boolean {
  return (command.args ?? "") !== "" || (command.subcommands ?? []).length > 0;
}

/** The command that a text calls, to remind of what may follow it. */
export function calledBy(text: string, commands: readonly SlashCommand[]): SlashCommand | undefined {
  const name = /^\/([\w-]+)\s/.exec(text)?.[1]?.toLowerCase();
  return name === undefined ? undefined : commands.find((candidate) => names(candidate).includes(name));
}
