import { type ClientSession, getSession, subscribeSession } from "./session.ts";

/** Auth events of SPEC.md §4, named as in the clients of the public GoTrue API. */
type AuthEvent = "INITIAL_SESSION" | "SIGNED_OUT" | ClientSession["event"];

type AuthChange = [AuthEvent, ClientSession | undefined];

const listAuthChanges = (before: ClientSession | undefined, after: ClientSession | undefined): AuthChange[] => {
  if (before === after) return [];
  const isSame = before?.userId === after?.userId;
  if (isSame && after) return [[after.event, after]];
  const changes: AuthChange[] = before ? [["SIGNED_OUT", undefined]] : [];
  if (!after) return changes;
  changes.push(["SIGNED_IN", after]);
  // No session existed while the second factor was pending, so this event follows SIGNED_IN.
  if (after.event === "MFA_CHALLENGE_VERIFIED") changes.push([after.event, after]);
  return changes;
};

/**
 * Reports the current session at once and then every change, from any tab, once. Simultaneous changes of another tab
 * are merged: only the resulting state is reported.
 */
export const subscribeToAuthEvents = (
  listener: (event: AuthEvent, session: ClientSession | undefined) => void,
): (() => void) => {
  let previous = getSession();
  const unsubscribe = subscribeSession(() => {
    const changes = listAuthChanges(previous, getSession());
    previous = getSession();
    for (const [event, session] of changes) listener(event, session);
  });
  listener("INITIAL_SESSION", previous);
  return unsubscribe;
};
