/** Completing the name of somebody who is mentioned in a room. */
import type { Member } from "./protocol/frames.ts";

const LONGEST = 32;
const MOST = 8;
/** What may not stand before the sign: an address is no mention. */
const IN_A_WORD = /[0-9A-Za-z_@＠.]/;

export interface Mention {
  /** Where the sign stands in the text. */
  readonly from: number;
  /** Where the letters end. */
  readonly to: number;
  readonly letters: string;
}

/** The mention that is being typed in front of the caret. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const before = text.slice(0, caret);
  const from = Math.max(before.lastIndexOf("@"), before.lastIndexOf("＠"));
  if (from < 0 || (from > 0 && IN_A_WORD.test(before.charAt(from - 1)))) return undefined;
  const letters = before.slice(from + 1);
  return letters.length > LONGEST || /\s/.test(letters) ? undefined : { from, to: caret, letters };
}

/** Whom the letters may mean: who is here before who is not, never oneself. Who is named in full needs no list. */
export function membersLike(members: readonly Member[], letters: string): readonly Member[] {
  const wanted = fold(letters);
  const found = members.filter((member) => !member.own && fold(member.name).includes(wanted));
  const rank = (member: Member): number => (fold(member.name).startsWith(wanted) ? 0 : 2) + (member.here ? 0 : 1);
  const [only] = found;
  if (only !== undefined && found.length === 1 && fold(only.name) === wanted) return [];
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MOST);
}

/** The text with the name in it, and where the caret is then. */
export function withMention(text: string, mention: Mention, name: string): { readonly text: string; readonly caret: number } {
  const rest = text.slice(mention.to);
  const told = `${text.slice(0, mention.from)}@${name}${rest.startsWith(" ") ? "" : " "}`;
  return { text: told + rest, caret: told.length + (rest.startsWith(" ") ? 1 : 0) };
}

function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
