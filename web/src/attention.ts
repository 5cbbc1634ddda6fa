/** Whether the person may be looking at this page: it can be seen, and it is what they type into. */
import { signal } from "@preact/signals";

export const attentive = signal(document.hasFocus() && !document.hidden);

for (const event of ["focus", "blur"]) addEventListener(event, look);
document.addEventListener("visibilitychange", look);

function look(): void {
  attentive.value = document.hasFocus() && !document.hidden;
}
