import { personQuery } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { findFirstView, waitForFirstScreen } from "#lib/browser/first-view.ts";
import { deleteFirstViews } from "#lib/browser/first-view-cache.ts";
import { isPageActive, subscribeToPageActivity } from "#lib/browser/page/page-activity.ts";
import { deleteCachedAvatars, pruneCachedPostPictures } from "#lib/browser/picture-cache.ts";
import { requestOutboxSync } from "#lib/browser/push/background-sync.ts";
import { ApiRequestError, requestApi } from "#lib/http/api.ts";
import { clearSession, getSession, isNearExpiry } from "#lib/session/session.ts";
import { refreshSession } from "#lib/session/session-refresh.ts";
import type { Platform } from "./platform.ts";
import { SyncError } from "./sync-error.ts";

const connectTimeoutMs = 15_000; // a slow network needs this long for a WebSocket upgrade

const storeTimeoutMs = 5_000; // a database that another page writes to, or of a broken profile, may never answer

const findLocalStorage = (): Storage | undefined => {
  try {
    return localStorage;
  } catch {
    return undefined; // access denied
  }
};

const mapApiFailure = (error: unknown): unknown =>
  error instanceof ApiRequestError ? new SyncError(error.code, error.retryAfterMs) : error;

/** Platform of one person's sync engine in the browser. */
export const createBrowserPlatform = (userId: Uuid): Platform => ({
  async request({ method, path, body }, options) {
    try {
      return await requestApi(method, path, body, { ...options, person: userId });
    } catch (error) {
      throw mapApiFailure(error);
    }
  },
  async download(path, offset, signal) {
    const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
    try {
      return (await requestApi("GET", path, undefined, {
        person: userId,
        signal,
        headers,
        wantsResponse: true,
      })) as Response;
    } catch (error) {
      throw mapApiFailure(error);
    }
  },
  async requestIfChanged(path, etag) {
    const headers: Record<string, string> = etag === undefined ? {} : { "if-none-match": etag };
    try {
      const response = (await requestApi("GET", path, undefined, {
        person: userId,
        headers,
        wantsResponse: true,
      })) as Response;
      if (response.status === 304) return undefined;
      const body: unknown = await response.json().catch(() => {
        throw new SyncError("offline"); // the response broke off
      });
      return { body, etag: response.headers.get("etag") };
    } catch (error) {
      throw mapApiFailure(error);
    }
  },
  WebSocket,
  socketUrl: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/socket?${personQuery}=${userId}`,
  connectTimeoutMs,
  storeTimeoutMs,
  session: {
    isCurrent: () => getSession()?.userId === userId,
    async renewIfExpiring() {
      const session = getSession();
      if (session && isNearExpiry(session)) await refreshSession();
    },
    renew: () => refreshSession(true),
    clear: clearSession,
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
    // A socket stays open without a network: probing it now shows within seconds that it is dead.
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
  isUserActive: isPageActive,
  onUserActivity: subscribeToPageActivity,
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
  waitForFirstScreen,
  async requestPersistentStorage() {
    await navigator.storage?.persist?.();
  },
  async requestOutboxSync() {
    await requestOutboxSync(await navigator.serviceWorker?.getRegistration());
  },
  async estimateQuota() {
    return (await navigator.storage?.estimate?.())?.quota;
  },
  deleteFirstViews: () => deleteFirstViews().catch(() => undefined),
  deletePictures: deleteCachedAvatars,
  prunePostPictures: pruneCachedPostPictures,
  createObjectUrl(blob) {
    const url = URL.createObjectURL(blob);
    return { url, revoke: () => URL.revokeObjectURL(url) };
  },
  localStorage: findLocalStorage(),
  firstViewWriter: typeof document === "undefined" ? undefined : findFirstView()?.dataset["writer"],
  loadMemoryIndexedDb: async () => (await import("./memory-storage.ts")).createMemoryIndexedDb(),
  startTimer(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  now: Date.now,
  random: Math.random,
});
