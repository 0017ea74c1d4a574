import * as v from "valibot";
import { type Factor, type SecondStep, Session as ServerSession } from "#contract/auth/auth.ts";
import { Uuid } from "#contract/ids.ts";
import { accessTokenSeconds, refreshMarginSeconds } from "#contract/limits/authentication.ts";
import { deleteFirstViews } from "#lib/browser/first-view-cache.ts";
import { deleteAllCachedPictures } from "#lib/browser/picture-cache.ts";
import { endPush } from "#lib/browser/push/end-push.ts";
import { pushUserKey } from "#lib/browser/push/push-use.ts";
import { deleteShares } from "#lib/browser/share/share-cache.ts";
import { parseResponse } from "#lib/http/parse-response.ts";

/**
 * Signed-in person on this browser, as far as scripts may know: the tokens are in cookies that scripts cannot read;
 * this record only has the person and the expiry of the access token. All tabs share it.
 */
const ClientSession = v.object({
  userId: Uuid,
  expiresAt: v.number(),
  event: v.optional(v.picklist(["SIGNED_IN", "TOKEN_REFRESHED", "MFA_CHALLENGE_VERIFIED"]), "SIGNED_IN"),
});
/**
 * `expiresAt` is in epoch milliseconds of this device's clock; `event` is the cause of the last change
 * (`auth-events.ts`).
 */
export type ClientSession = v.InferOutput<typeof ClientSession>;

const storageKey = "session";
const signedOutKey = "signed-out"; // contains no personal data
const endCauses = ["person", "account", "elsewhere"] as const;

const listeners = new Set<() => void>();
let cachedSession: { text: string | null; session: ClientSession | undefined } = { text: null, session: undefined };

// Fallback if storage is full or forbidden: the session lasts as long as the page.
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
    // Storage is forbidden: nothing is saved.
  }
};

/** Snapshot for an external store: the same object until something changes. */
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
  // Unreadable data is removed, because the inline scripts of the pages only check for its presence.
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

/** Calls `listener` when somebody signs in or out or the session is renewed, in this tab or another one. */
export const subscribeSession = (listener: () => void): (() => void) => {
  if (listeners.size === 0) addEventListener("storage", handleStorageEvent);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", handleStorageEvent);
  };
};

/** What ended a session for good: its person in this browser, the deletion of the account, or its person elsewhere. */
type SessionEndCause = (typeof endCauses)[number];

/**
 * What ended the last session on this browser for good, in any tab. Undefined if it ended in another way: its person
 * may sign in again and finds everything.
 */
export const getSessionEndCause = (): SessionEndCause | undefined => {
  const stored = readStorageKey(signedOutKey);
  return endCauses.find((cause) => cause === stored);
};

const clearAppBadge = async (): Promise<void> => {
  if ("clearAppBadge" in navigator) await navigator.clearAppBadge();
};

/**
 * Deletes the session on this browser, in all tabs, the pictures cached by the service worker (`src/sw/pictures.ts`)
 * and the snapshots of first views, and ends notifications and the number on the app's icon. Subscribers delete their
 * own data.
 */
export const clearSession = (): void => {
  storeSession(undefined);
  for (const deletion of [deleteAllCachedPictures(), deleteFirstViews(), endPush(), clearAppBadge()])
    void deletion.catch(() => undefined);
};

/**
 * Ends the session for good. Shared content is deleted too; an expired session keeps it, because the person may sign in
 * again to send it. Who ended it elsewhere has notifications again after the next sign-in here.
 */
export const endSession = (cause: SessionEndCause): void => {
  try {
    localStorage.setItem(signedOutKey, cause);
  } catch {
    // Storage is full or forbidden: the other tabs still learn that the session has ended.
  }
  if (cause !== "elsewhere") removeStorageKey(pushUserKey);
  void deleteShares().catch(() => undefined);
  clearSession();
};

/** When the server opened or last renewed the session. */
export const getConfirmationTime = ({ expiresAt }: ClientSession): number => expiresAt - accessTokenSeconds * 1_000;

export const isNearExpiry = ({ expiresAt }: ClientSession): boolean =>
  expiresAt - Date.now() < refreshMarginSeconds * 1_000;

/**
 * Session opened by the server. While a second factor is pending it is not stored on this browser: only its cookies
 * exist, as long as the factor may be shown.
 */
export type OpenedSession = { userId: Uuid; awaits: SecondStep[] | undefined; apps: CodeApp[] };

/** Verified code app. */
export type CodeApp = Pick<Factor, "id" | "friendly_name">;

/**
 * Saves a session opened by the server. Its lifetime counts from now, because a phone's clock may be hours off. A
 * session with a pending second factor replaced the cookies of any earlier session, so nobody is signed in here then.
 */
export const saveSession = (response: unknown, event: ClientSession["event"]): OpenedSession => {
  const { user, expires_in, awaits } = parseResponse(ServerSession, response);
  const before = getSession();
  if (!awaits) storeSession({ userId: user.id, expiresAt: Date.now() + expires_in * 1_000, event });
  else if (before) clearSession();
  // Another person's notifications do not arrive here any more.
  if (!awaits && before && before.userId !== user.id) void endPush().catch(() => undefined);
  const apps = (user.factors ?? []).filter(({ status }) => status === "verified");
  return { userId: user.id, awaits, apps };
};
