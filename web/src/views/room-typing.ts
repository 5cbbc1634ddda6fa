import { useContext, useEffect, useRef } from "preact/hooks";
import { SessionContext } from "./context.ts";

/** After which nobody writes any more who has only left something in the field. */
const IDLE = 8_000;

/** Lets the room see that the person writes: from the first letter on, until it is sent, cleared, or left lying. */
export function useRoomTyping(chatId: string | undefined, draft: string): void {
  const session = useContext(SessionContext);
  const told = useRef<string | undefined>(undefined);
  const tell = (chat_id: string, on: boolean): void => {
    told.current = on ? chat_id : undefined;
    // A room that does not learn of it has lost nothing.
    void session?.request({ type: "room.typing", chat_id, on });
  };
  useEffect(() => {
    const before = told.current;
    if (before !== undefined && (before !== chatId || draft === "")) tell(before, false);
    if (chatId === undefined || draft === "") return undefined;
    if (told.current === undefined) tell(chatId, true);
    const timer = setTimeout(() => tell(chatId, false), IDLE);
    return () => clearTimeout(timer);
  }, [chatId, draft]);
  useEffect(() => () => {
    if (told.current !== undefined) tell(told.current, false);
  }, []);
}
