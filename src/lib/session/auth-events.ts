import { type ClientSession, getSession, subscribeSession } from "./session.ts";

/** SPEC.md §4, in the names of the public GoTrue API's clients. */
type AuthEvent = "INITIAL_SESSION" | "SIGNED_OUT" | ClientSession["event"];

type AuthChange = [AuthEvent, ClientSession | undefined];

const listAuthChanges = (before: ClientSession | undefined, after: ClientSession | undefined): AuthChange[] => {
  if (before === after) return [];
  const isSame = before?.userId === after?.userId;
  if (isSame && after) return [[after.event, after]];
  const told: AuthChange[] = before ? [["SIGNED_OUT", undefined]] : [];
  if (!after) return told;
  told.push(["SIGNED_IN", after]);
  // Nobody was signed in while the second step was owed: it is told after that somebody is.
  if (after.event === "MFA_CHALLENGE_VERIFIED") told.push([after.event, after]);
  return told;
};

/**
 * Tells at once who is signed in, then every change of that, made in whichever tab, once. Changes that another tab makes in
 * the same moment are one: what counts is what they lead to.
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
