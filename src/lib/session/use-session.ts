import { useSyncExternalStore } from "react";
import { type ClientSession, getSession, subscribeSession } from "./session.ts";

/** Session of the signed-in person, in a module of its own: the store opens before React is loaded. */
export const useSession = (): ClientSession | undefined =>
  useSyncExternalStore(subscribeSession, getSession, () => undefined);
