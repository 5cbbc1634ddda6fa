/** Copies text, also where the page is not in a secure context and the clipboard API is missing. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "off-screen";
  document.body.append(field);
  field.select();
  // The only way without the clipboard API; every browser still has it.
  const copied = document.execCommand("copy");
  field.remove();
  return copied;
}
