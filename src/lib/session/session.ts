import { useSyncExternalStore } from "react";
import * as v from "valibot";
import { type Factor, type SecondStep, Session as ServerSession } from "#contract/auth/auth.ts";
import { Uuid } from "#contract/ids.ts";
import { refreshMarginSeconds } from "#contract/limits.ts";
import { deleteAllCachedPictures } from "#lib/browser/picture-cache.ts";
import { parseResponse } from "#lib/http/parse-response.ts";

/**
 * Who is signed in on this browser, as far as a script may know: the tokens live in cookies that no script
 * reads, here stand only the person and when the access token ends. All tabs share it.
 */
const ClientSession = v.object({
  userId: Uuid,
  expiresAt: v.number(),
  event: v.optional(v.picklist(["SIGNED_IN", "TOKEN_REFRESHED", "MFA_CHALLENGE_VERIFIED"]), "SIGNED_IN"),
});
/** `expiresAt` is in epoch milliseconds, by this device's clock; `event` is what made it so (`auth-events.ts`). */
export type ClientSession = v.InferOutput<typeof ClientSession>;

const storageKey = "session";
const signedOutKey = "signed-out"; // names nobody
const signedOutValues = { person: "1", account: "deleted" };

const listeners = new Set<() => void>();
let cachedSession: { text: string | null; session: ClientSession | undefined } = { text: null, session: undefined };

// What could not be stored (storage is full or forbidden): the session lives as long as the page.
let unstoredText: string | null = null;

const readStorageKey = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is forbidden
  }
};

const removeStorageKey = (key: string): void => {
  try {
    localStorage.removeItem(key);
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

/** The same object as long as nothing changed, so that it can be a snapshot of an external store. */
export const getSession = (): ClientSession | undefined => {
  const text = unstoredText ?? readStorageKey(storageKey);
  if (text === cachedSession.text) return cachedSession.session;
  let value: unknown;
  try {
    value = text === null ? undefined : JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = v.safeParse(ClientSession, value);
  // What cannot be read is removed: the pages' inline scripts only look whether something is there.
  if (text !== null && !parsed.success) removeStorageKey(storageKey);
  cachedSession = { text, session: parsed.success ? parsed.output : undefined };
  return cachedSession.session;
};

const storeSession = (session: ClientSession | undefined): void => {
  const text = session ? JSON.stringify(session) : null;
  unstoredText = null;
  if (text === null) removeStorageKey(storageKey);
  else {
    removeStorageKey(signedOutKey);
    try {
      localStorage.setItem(storageKey, text);
    } catch {
      unstoredText = text;
    }
  }
  for (const listener of [...listeners]) listener();
};

const handleStorageEvent = (event: StorageEvent) => {
  if (event.key !== storageKey && event.key !== null) return;
  for (const listener of [...listeners]) listener();
};

/** Calls `listener` when somebody signs in or out or the session is renewed, in this tab or in another. */
export const subscribeSession = (listener: () => void): (() => void) => {
  if (listeners.size === 0) addEventListener("storage", handleStorageEvent);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", handleStorageEvent);
  };
};

export const useSession = (): ClientSession | undefined =>
  useSyncExternalStore(subscribeSession, getSession, () => undefined);

/** Whether the last session here was ended by its person, in whichever tab: nothing of it is kept then. */
export const wasSignedOut = (): boolean => readStorageKey(signedOutKey) !== null;

/** Whether it ended for the account was deleted, on whichever device. */
export const wasAccountDeleted = (): boolean => readStorageKey(signedOutKey) === signedOutValues.account;

/**
 * Forgets the session on this browser, in all tabs, and the pictures that the service worker kept
 * (`src/sw/pictures.ts`). What else belongs to it is removed by whoever subscribes.
 */
export const clearSession = (): void => {
  storeSession(undefined);
  void deleteAllCachedPictures().catch(() => undefined);
};

/** Forgets it for good: its person ended it, or the account is no more. */
export const endSession = (by: keyof typeof signedOutValues): void => {
  try {
    localStorage.setItem(signedOutKey, signedOutValues[by]);
  } catch {
    // Storage is full or forbidden: the other tabs are told that the session has ended.
  }
  clearSession();
};

export const isNearExpiry = ({ expiresAt }: ClientSession): boolean =>
  expiresAt - Date.now() < refreshMarginSeconds * 1_000;

/**
 * A session that the server opened. One that still owes its second step is nobody's session on this browser yet: only its
 * cookies know of it, for as long as the step may be shown.
 */
export type OpenedSession = { userId: Uuid; awaits: SecondStep[] | undefined; apps: CodeApp[] };

/** A code app that has shown that it works. */
export type CodeApp = Pick<Factor, "id" | "friendly_name">;

/**
 * Keeps a session the server opened. Its lifetime counts from now: a phone's clock may be hours off. Where it still owes its
 * step it took the cookies of whatever session there was, so that nobody is signed in here.
 */
export const saveSession = (answer: unknown, event: ClientSession["event"]): OpenedSession => {
  const { user, expires_in, awaits } = parseResponse(ServerSession, answer);
  if (!awaits) storeSession({ userId: user.id, expiresAt: Date.now() + expires_in * 1_000, event });
  else if (getSession()) clearSession();
  const apps = (user.factors ?? []).filter(({ status }) => status === "verified");
  return { userId: user.id, awaits, apps };
};
