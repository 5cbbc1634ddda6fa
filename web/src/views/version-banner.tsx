import { words } from "../language.ts";
import { changeVersion } from "../ui.ts";
import { CloseIcon } from "./icons.tsx";

/** Says above the composer that the app itself can be changed for a newer one. */
export function VersionBanner() {
  const change = changeVersion.value;
  if (change === undefined) return null;
  const { app } = words.value;
  return (
    <div class="banner" role="status">
      <span class="banner-text">{app.newVersion}</span>
      <button type="button" class="text-button" onClick={change}>{app.reload}</button>
      <button type="button" class="icon-button" aria-label={app.notNow} title={app.notNow} onClick={() => (changeVersion.value = undefined)}><CloseIcon /></button>
    </div>
  );
}
