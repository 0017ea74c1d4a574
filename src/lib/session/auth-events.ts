import { getSession, type KnownSession, subscribeSession } from "./session.ts";

/** SPEC.md §4, in the names of the public GoTrue API's clients. */
type AuthEvent = "INITIAL_SESSION" | "SIGNED_OUT" | KnownSession["event"];

type Told = [AuthEvent, KnownSession | undefined];

const between = (before: KnownSession | undefined, after: KnownSession | undefined): Told[] => {
  if (before === after) return [];
  const isSame = before?.userId === after?.userId;
  if (isSame && after) return [[after.event, after]];
  const told: Told[] = before ? [["SIGNED_OUT", undefined]] : [];
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
export const onAuthEvent = (listener: (event: AuthEvent, session: KnownSession | undefined) => void): (() => void) => {
  let known = getSession();
  const unsubscribe = subscribeSession(() => {
    const told = between(known, getSession());
    known = getSession();
    for (const [event, session] of told) listener(event, session);
  });
  listener("INITIAL_SESSION", known);
  return unsubscribe;
};
