import { words } from "../language.ts";
import { dismissToast, toasts } from "../ui.ts";
import type { Toast } from "../ui.ts";
import { AlertIcon, CloseIcon } from "./icons.tsx";

/** Short words about something that was done elsewhere on the screen. */
export function Toasts() {
  const shown = toasts.value;
  return (
    <div class="toasts">
      <div role="status">{shown.filter((toast) => toast.tone === "plain").map(line)}</div>
      <div role="alert">{shown.filter((toast) => toast.tone === "bad").map(line)}</div>
    </div>
  );
}

function line(toast: Toast) {
  const { action } = toast;
  return (
    <div key={toast.id} class={`toast ${toast.tone}`}>
      {toast.tone === "bad" && <AlertIcon />}
      <span>{toast.text}</span>
      {action !== undefined && (
        <button
          type="button" class="text-button"
          onClick={() => {
            dismissToast(toast.id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" class="toast-close" aria-label={words.value.app.dismiss} onClick={() => dismissToast(toast.id)}><CloseIcon /></button>
    </div>
  );
}
