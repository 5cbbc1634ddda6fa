import { screen } from "../app.ts";
import { Chat } from "./chat.tsx";
import { SessionContext } from "./context.ts";
import { PairingScreen } from "./pairing-screen.tsx";

export function Root() {
  const shown = screen.value;
  if (shown.kind === "starting") return null;
  if (shown.kind === "pairing") return <PairingScreen busy={shown.busy} message={shown.message} />;
  return (
    <SessionContext.Provider value={shown.session}>
      <Chat session={shown.session} />
    </SessionContext.Provider>
  );
}
