/** The host's slash commands, fetched when they are first wanted. */
import { signal } from "@preact/signals";
import type { SlashCommand } from "./protocol/frames.ts";
import type { Session } from "./session.ts";

export const slashCommands = signal<readonly SlashCommand[]>([]);

let asking = false;

/** Plugins and skills may add some while the gateway runs, so that they are fetched anew for each command. */
export async function fetchCommands(session: Session): Promise<void> {
  if (asking) return;
  asking = true;
  const outcome = await session.request({ type: "commands.list" });
  asking = false;
  if (outcome.ok) slashCommands.value = outcome.answer.commands;
}
