/** What a key means in an open menu. */
export type MenuMove =
  | { readonly kind: "focus"; readonly index: number }
  | { readonly kind: "close" }
  | { readonly kind: "none" };

export interface MenuKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
}

export function menuMove({ key, ctrlKey, altKey, metaKey }: MenuKey, focused: number, labels: readonly string[]): MenuMove {
  const last = labels.length - 1;
  switch (key) {
    case "ArrowDown": return { kind: "focus", index: focused >= last ? 0 : focused + 1 };
    case "ArrowUp": return { kind: "focus", index: focused <= 0 ? last : focused - 1 };
    case "Home": return { kind: "focus", index: 0 };
    case "End": return { kind: "focus", index: last };
    case "Escape":
    case "Tab": return { kind: "close" };
    default: break;
  }
  // Enter and Space press the button that the item is.
  if (key.length !== 1 || key === " " || ctrlKey || altKey || metaKey) return { kind: "none" };
  const after = [...labels.keys()].map((step) => (focused + 1 + step) % labels.length);
  const index = after.find((candidate) => labels[candidate]?.toLowerCase().startsWith(key.toLowerCase()));
  return index === undefined ? { kind: "none" } : { kind: "focus", index };
}
