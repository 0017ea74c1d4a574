import { useSyncExternalStore } from "react";
import * as v from "valibot";
import type { AccountDeletion } from "../../contract/account";
import { type Factor, type SecondStep, Session as ServerSession, type SignUp } from "../../contract/auth";
import { isPermanent } from "../../contract/errors";
import { Uuid } from "../../contract/ids";
import { refreshMarginSeconds } from "../../contract/limits";
import { ApiFailure, exchange } from "./exchange";
import { dropAllPictures } from "./picture-cache";

/**
 * Who is signed in on this browser, as far as a script may know: the tokens live in cookies that no script
 * reads, here stand only the person and when the access token ends. All tabs share it.
 */
const KnownSession = v.object({
  userId: Uuid,
  expiresAt: v.number(),
  event: v.optional(v.picklist(["SIGNED_IN", "TOKEN_REFRESHED", "MFA_CHALLENGE_VERIFIED"]), "SIGNED_IN"),
});
/** `expiresAt` is in epoch milliseconds, by this device's clock; `event` is what made it so (`auth-events.ts`). */
export type KnownSession = v.InferOutput<typeof KnownSession>;

const storageKey = "session";
const signedOutKey = "signed-out"; // names nobody
const deletedMark = "deleted"; // there, when what ended was the account
const refreshLock = "lisolo-session-refresh";
const signOutTimeoutMs = 15_000; // of each of two tries
const refreshStepMs = 200; // SPEC.md §9
const refreshRetriesMax = 6; // 200 ms, 400 ms … 6.4 s: 12.6 s in all, then the next request tries again

const listeners = new Set<() => void>();
let cached: { text: string | null; session: KnownSession | undefined } = { text: null, session: undefined };

// What could not be stored (storage is full or forbidden): the session lives as long as the page.
let unstored: string | null = null;

const readKey = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is forbidden
  }
};

const removeKey = (key: string): void => {
  try {
    localStorage.removeItem(key);
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

/** The same object as long as nothing changed, so that it can be a snapshot of an external store. */
export const getSession = (): KnownSession | undefined => {
  const text = unstored ?? readKey(storageKey);
  if (text === cached.text) return cached.session;
  let value: unknown;
  try {
    value = text === null ? undefined : JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = v.safeParse(KnownSession, value);
  // What cannot be read is removed: the pages' inline scripts only look whether something is there.
  if (text !== null && !parsed.success) removeKey(storageKey);
  cached = { text, session: parsed.success ? parsed.output : undefined };
  return cached.session;
};

const store = (session: KnownSession | undefined): void => {
  const text = session ? JSON.stringify(session) : null;
  unstored = null;
  if (text === null) removeKey(storageKey);
  else {
    removeKey(signedOutKey);
    try {
      localStorage.setItem(storageKey, text);
    } catch {
      unstored = text;
    }
  }
  for (const listener of [...listeners]) listener();
};

const onStorage = (event: StorageEvent) => {
  if (event.key !== storageKey && event.key !== null) return;
  for (const listener of [...listeners]) listener();
};

/** Calls `listener` when somebody signs in or out or the session is renewed, in this tab or in another. */
export const subscribeSession = (listener: () => void): (() => void) => {
  if (listeners.size === 0) addEventListener("storage", onStorage);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", onStorage);
  };
};

export const useSession = (): KnownSession | undefined =>
  useSyncExternalStore(subscribeSession, getSession, () => undefined);

/** Whether the last session here was ended by its person, in whichever tab: nothing of it is kept then. */
export const wasSignedOut = (): boolean => readKey(signedOutKey) !== null;

/** Whether it ended for the account was deleted, on whichever device. */
export const wasDeleted = (): boolean => readKey(signedOutKey) === deletedMark;

const markSignedOut = (mark: string): void => {
  try {
    localStorage.setItem(signedOutKey, mark);
  } catch {
    // Storage is full or forbidden: the other tabs are told that the session has ended.
  }
};

/**
 * Forgets the session on this browser, in all tabs, and the pictures of people that the service worker kept
 * (`src/sw/avatars.ts`). What else belongs to it is removed by whoever subscribes.
 */
export const dropSession = (): void => {
  store(undefined);
  void dropAllPictures().catch(() => undefined);
};

export const isNearExpiry = ({ expiresAt }: KnownSession): boolean =>
  expiresAt - Date.now() < refreshMarginSeconds * 1_000;

/**
 * A session that the server opened. One that still owes its second step is nobody's session on this browser yet: only its
 * cookies know of it, for as long as the step may be shown.
 */
export type Opened = { userId: Uuid; awaits: SecondStep[] | undefined; apps: CodeApp[] };

/** A code app that has shown that it works. */
export type CodeApp = Pick<Factor, "id" | "friendly_name">;

const read = (answer: unknown): ServerSession => {
  const parsed = v.safeParse(ServerSession, answer);
  if (!parsed.success) throw new ApiFailure("unavailable", 200);
  return parsed.output;
};

/**
 * Keeps a session the server opened. Its lifetime counts from now: a phone's clock may be hours off. Where it still owes its
 * step it took the cookies of whatever session there was, so that nobody is signed in here.
 */
const keepSession = (answer: unknown, event: KnownSession["event"]): Opened => {
  const { user, expires_in, awaits } = read(answer);
  if (!awaits) store({ userId: user.id, expiresAt: Date.now() + expires_in * 1_000, event });
  else if (getSession()) dropSession();
  const apps = (user.factors ?? []).filter(({ status }) => status === "verified");
  return { userId: user.id, awaits, apps };
};

const isFinal = (failure: ApiFailure): boolean =>
  failure.code !== "offline" && (failure.status === 401 || isPermanent(failure.code));

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const inOneTab = <T>(work: () => Promise<T>): Promise<T> =>
  "locks" in navigator ? navigator.locks.request(refreshLock, work) : work();

/** One try, unless another tab has done it since `before`; a failure that may pass is the answer. */
const renew = async (before: KnownSession, refused: boolean): Promise<boolean | ApiFailure> => {
  const now = getSession();
  if (!now) return false;
  const wasRenewedMeanwhile = now !== before;
  if (!isNearExpiry(now) && (wasRenewedMeanwhile || !refused)) return true;
  try {
    const { awaits } = keepSession(
      await exchange("POST", "/api/auth/token?grant_type=refresh_token", {}),
      "TOKEN_REFRESHED",
    );
    return awaits === undefined;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    if (!isFinal(error)) return error;
    // Only the session that was refused: another tab may have signed in during the request.
    if (getSession() === now) {
      if (error.code === "account_deleted") markSignedOut(deletedMark);
      dropSession();
    }
    return false;
  }
};

let underway: Promise<boolean> | undefined;

/**
 * Renews the session; true when it is fresh afterwards. One try at a time over all tabs: a tab that had to wait
 * finds the work done, and a person who signs out waits for no more than one. `refused` says that the server refused
 * this session although it looks fresh. Network trouble keeps the session and is retried; a refusal drops it.
 */
export const refreshSession = (refused = false): Promise<boolean> => {
  underway ??= (async () => {
    const before = getSession();
    if (!before) return false;
    for (let attempt = 0; ; attempt++) {
      const outcome = await inOneTab(() => renew(before, refused));
      if (typeof outcome === "boolean") return outcome;
      if (attempt === refreshRetriesMax) return false;
      await pause(Math.max(refreshStepMs * 2 ** attempt, outcome.retryAfterMs ?? 0));
    }
  })().finally(() => {
    underway = undefined;
  });
  return underway;
};

// Opening and ending a session. Each throws `ApiFailure`; `phone` is as typed, the server normalises it.

/** Where a factor is shown in the session there is. */
const showing = /^\/api\/auth\/(proof|factors\/[^/]+\/verify|recovery-codes\/verify|passkeys\/step)$/;

const eventAt = (path: string): KnownSession["event"] => {
  if (!showing.test(path)) return "SIGNED_IN";
  return getSession() ? "TOKEN_REFRESHED" : "MFA_CHALLENGE_VERIFIED";
};

/**
 * Opens a session, or shows one more factor in the one there is: each answers a session of the API. No tab renews meanwhile,
 * for what comes back takes the place of what there was.
 */
export const openSession = (path: string, body: unknown): Promise<Opened> =>
  inOneTab(async () => keepSession(await exchange("POST", path, body), eventAt(path)));

export const signIn = (phone: string, password: string): Promise<Opened> =>
  openSession("/api/auth/token?grant_type=password", { phone, password });

export const signUp = async (account: {
  phone: string;
  password: string;
  username: string;
  /** The solved proof of work. */
  captchaToken: string;
  /** What came back from a provider that knows them (`Newcomer`). */
  identity?: SignUp["identity"];
}): Promise<Opened> =>
  keepSession(
    await exchange("POST", "/api/auth/signup", {
      phone: account.phone,
      password: account.password,
      data: { username: account.username },
      identity: account.identity,
      gotrue_meta_security: { captcha_token: account.captchaToken },
    }),
    "SIGNED_IN",
  );

/** A session the server no longer knows is ended already. */
const endOnServer = async (): Promise<void> => {
  try {
    await exchange("POST", "/api/auth/logout?scope=global", undefined, { timeoutMs: signOutTimeoutMs });
  } catch (error) {
    if (!(error instanceof ApiFailure) || (error.status !== 401 && error.status !== 404)) throw error;
  }
};

/**
 * Ends every session of this person, on all devices. Asked once more where no answer came: what was lost may have been
 * the answer alone. No tab renews meanwhile: the server closes the sockets before it answers, and whoever asked why
 * would be refused, or bring back what has just ended.
 */
export const signOut = (): Promise<void> =>
  inOneTab(async () => {
    await endOnServer().catch((error: unknown) => {
      if (error instanceof ApiFailure && error.code === "offline") return endOnServer();
      throw error;
    });
    markSignedOut("1");
    dropSession();
  });

const deleteOnServer = (userId: Uuid): Promise<unknown> =>
  exchange("DELETE", "/api/account", { user_id: userId } satisfies AccountDeletion, { timeoutMs: signOutTimeoutMs });

/**
 * Deletes this person's account and with it every session. Asked once more where no answer came: done twice it is done.
 * No tab renews meanwhile.
 */
const endAccount = (userId: Uuid): Promise<void> =>
  inOneTab(async () => {
    await deleteOnServer(userId).catch((error: unknown) => {
      if (error instanceof ApiFailure && error.code === "offline") return deleteOnServer(userId);
      throw error;
    });
    markSignedOut(deletedMark);
    dropSession();
  });

export const deleteAccount = async (userId: Uuid): Promise<void> => {
  const session = getSession();
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    await endAccount(userId);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
    // Only this session has ended, or the account did before and nobody heard of it.
    if (await refreshSession(true)) await endAccount(userId);
    else if (!wasDeleted()) throw error;
  }
};
