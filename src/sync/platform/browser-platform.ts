import { personQuery } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { isPageUsed, onPageUse } from "#lib/browser/page-use.ts";
import { dropPictures, keepPostPictures } from "#lib/browser/picture-cache.ts";
import { ApiFailure, request } from "#lib/http/api.ts";
import { dropSession, getSession, isNearExpiry } from "#lib/session/session.ts";
import { refreshSession } from "#lib/session/session-refresh.ts";
import type { Platform } from "./platform.ts";
import { SyncError } from "./sync-error.ts";

const connectTimeoutMs = 15_000; // a slow network takes this long for an upgrade

const openTimeoutMs = 15_000; // an open that a broken browser profile blocks never answers

const findNotes = (): Storage | undefined => {
  try {
    return localStorage;
  } catch {
    return undefined; // forbidden
  }
};

const toSyncError = (error: unknown): unknown =>
  error instanceof ApiFailure ? new SyncError(error.code, error.retryAfterMs) : error;

/** The browser as one person's engine sees it. */
export const browserPlatform = (userId: Uuid): Platform => ({
  async request({ method, path, body }, options) {
    try {
      return await request(method, path, body, { ...options, person: userId });
    } catch (error) {
      throw toSyncError(error);
    }
  },
  async open(path, from, signal) {
    const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
    try {
      return (await request("GET", path, undefined, { person: userId, signal, headers, unread: true })) as Response;
    } catch (error) {
      throw toSyncError(error);
    }
  },
  async look(path, mark) {
    const headers: Record<string, string> = mark === undefined ? {} : { "if-none-match": mark };
    try {
      const response = (await request("GET", path, undefined, { person: userId, headers, unread: true })) as Response;
      if (response.status === 304) return undefined;
      const body: unknown = await response.json().catch(() => {
        throw new SyncError("offline"); // it broke off
      });
      return { body, mark: response.headers.get("etag") };
    } catch (error) {
      throw toSyncError(error);
    }
  },
  WebSocket,
  socketUrl: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/socket?${personQuery}=${userId}`,
  connectTimeoutMs,
  openTimeoutMs,
  session: {
    isCurrent: () => getSession()?.userId === userId,
    async prepare() {
      const session = getSession();
      if (session && isNearExpiry(session)) await refreshSession();
    },
    renew: () => refreshSession(true),
    drop: dropSession,
  },
  locks: "locks" in navigator ? navigator.locks : undefined,
  openChannel: (name) => (typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(name)),
  isVisible: () => document.visibilityState === "visible",
  isOnline: () => navigator.onLine,
  onWake(listener) {
    const onVisible = () => {
      if (document.visibilityState === "visible") listener();
    };
    addEventListener("online", listener);
    // A socket stays open without a network: asked for a sign of life now, it is known within seconds to be dead.
    addEventListener("offline", listener);
    addEventListener("pageshow", listener);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      removeEventListener("online", listener);
      removeEventListener("offline", listener);
      removeEventListener("pageshow", listener);
      document.removeEventListener("visibilitychange", onVisible);
    };
  },
  isUsed: isPageUsed,
  onUse: onPageUse,
  onLeave(listener) {
    const onHidden = () => {
      if (document.visibilityState === "hidden") listener();
    };
    addEventListener("pagehide", listener);
    document.addEventListener("visibilitychange", onHidden);
    return () => {
      removeEventListener("pagehide", listener);
      document.removeEventListener("visibilitychange", onHidden);
    };
  },
  async askPersistence() {
    await navigator.storage?.persist?.();
  },
  async quota() {
    return (await navigator.storage?.estimate?.())?.quota;
  },
  dropPictures,
  keepPostPictures,
  createUrl(blob) {
    const url = URL.createObjectURL(blob);
    return { url, undo: () => URL.revokeObjectURL(url) };
  },
  notes: findNotes(),
  loadMemoryStorage: async () => (await import("./memory-storage.ts")).memoryStorage(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  now: Date.now,
  random: Math.random,
});
