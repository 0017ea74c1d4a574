import { type ClientSession, getSession, subscribeSession } from "./session.ts";

/** Auth events of SPEC.md §4, named as in the clients of the public GoTrue API. */
type AuthEvent = "INITIAL_SESSION" | "SIGNED_OUT" | ClientSession["event"];

type AuthChange = [AuthEvent, ClientSession | undefined];

const listAuthChanges = (before: ClientSession | undefined, after: ClientSession | undefined): AuthChange[] => {
  if (before === after) return [];
  const isSame = before?.userId === after?.userId;
  if (isSame && after) return [[after.event, after]];
  const told: AuthChange[] = before ? [["SIGNED_OUT", undefined]] : [];
  if (!after) return told;
  told.push(["SIGNED_IN", after]);
  // No session existed while the second factor was pending, so this event follows SIGNED_IN.
  if (after.event === "MFA_CHALLENGE_VERIFIED") told.push([after.event, after]);
  return told;
};

/**
 * Reports the current session at once and then every change, from any tab, once. Simultaneous changes of another tab
 * are merged: only the resulting state is reported.
 */
export const subscribeToAuthEvents = (
  listener: (event: AuthEvent, session: ClientSession | undefined) => void,
): (() => void) => {
  let known = getSession();
  const unsubscribe = subscribeSession(() => {
    const told = listAuthChanges(known, getSession());
    known = getSession();
    for (const [event, session] of told) listener(event, session);
  });
  listener("INITIAL_SESSION", known);
  return unsubscribe;
};
