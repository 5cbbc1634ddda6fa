/** A sentence around something that is drawn, not only written. */
export type Sentence = <Part>(part: Part) => readonly (Part | string)[];

export function sentence(before: string, after: string): Sentence {
  return (part) => [before, part, after];
}
