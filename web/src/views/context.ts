import { createContext } from "preact";
import { DEFAULT_LANE } from "../model.ts";
import type { LaneAddress } from "../model.ts";
import type { Session } from "../session.ts";

/** The session that the person's actions go to. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The lane that a row stands in. */
export const LaneContext = createContext<LaneAddress>(DEFAULT_LANE);
