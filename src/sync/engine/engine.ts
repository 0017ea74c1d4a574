import type { Uuid } from "#contract/ids.ts";
import { deleteFirstViews } from "#lib/browser/first-view-cache.ts";
import { Observable } from "#lib/browser/observable.ts";
import { subscribeToAuthEvents } from "#lib/session/auth-events.ts";
import { confirmSession } from "#lib/session/confirm-session.ts";
import { getSessionEndCause } from "#lib/session/session.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { applyDocumentData, takeDocumentData } from "#sync/inbound/document-data.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { createBrowserPlatform } from "#sync/platform/browser-platform.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { LiveQueries } from "#sync/queries/live-queries.ts";
import { purgeJournal } from "#sync/store/journal.ts";
import { deleteAllButUnsent, deleteAllData } from "#sync/store/open-database.ts";
import { runInBackground } from "#sync/store/sync-context.ts";
import { SyncClient, type SyncNotice } from "./sync-client.ts";

/** Sync engine of one person in this tab, with the caches of its screens. */
export type SyncEngine = {
  readonly userId: Uuid;
  readonly client: SyncClient;
  readonly readTracker: ReadTracker;
  readonly drafts: TextDrafts;
  /** Stores what the caches hold and closes the store. Only `stopEngine` calls it. */
  stop(): Promise<void>;
};

/** Engine that the screens of this tab use; undefined while none runs. */
export const currentEngine = new Observable<SyncEngine | undefined>(undefined);

/** Current engine. Throws a SyncError while none runs. */
export const getEngine = (): SyncEngine => {
  const engine = currentEngine.get();
  if (!engine) throw new SyncError("unavailable");
  return engine;
};

/** Live queries of the open store; undefined while no store is open. */
export const liveQueries = new Observable<LiveQueries | undefined>(undefined);

const syncNoticeListeners = new Set<(notice: SyncNotice) => void>();
/** Notices that nobody has heard: the engine starts before the app is rendered. */
const unheardNotices: SyncNotice[] = [];
const emitNotice = (notice: SyncNotice): void => {
  if (syncNoticeListeners.size === 0) unheardNotices.push(notice);
  for (const listener of [...syncNoticeListeners]) listener(notice);
};

/**
 * Subscribes to notices for the person, such as a rebuilt store, an outdated app or an ended session. The first listener
 * also hears the earlier ones.
 */
export const subscribeNotices = (listener: (notice: SyncNotice) => void): (() => void) => {
  syncNoticeListeners.add(listener);
  for (const notice of unheardNotices.splice(0)) listener(notice);
  return () => {
    syncNoticeListeners.delete(listener);
  };
};

/** Last start that was not followed by a stop. Its engine becomes the current one while it starts. */
let lastStart: { userId: Uuid; engine: Promise<SyncEngine> } | undefined;
/** Stops run one after another, and a start waits for them, so that they do not close the stores of the new engine. */
let pendingStop: Promise<void> = Promise.resolve();

const waitForTimer = (platform: Platform): Promise<void> =>
  new Promise((resolve) => platform.startTimer(platform.storeTimeoutMs, resolve));

const createEngine = async (userId: Uuid): Promise<SyncEngine> => {
  const platform = createBrowserPlatform(userId);
  const notify = (notice: SyncNotice) => {
    if (notice === "signed-out") void handleSessionEnd(userId);
    else emitNotice(notice);
  };
  const client = new SyncClient(userId, platform, notify, () => import("./server-code.ts"));
  const readTracker = new ReadTracker(client);
  const drafts = new TextDrafts(client);
  const follow = () => {
    const context = client.context.get();
    liveQueries.set(context && new LiveQueries(context));
  };
  const flush = () => {
    const context = client.context.get();
    if (context) runInBackground(context, readTracker.flush());
    void drafts.share();
  };
  const unsubscribe = [
    client.context.subscribe(follow),
    platform.onLeave(flush),
    subscribeToAuthEvents((_, session) => {
      if (session?.userId !== userId) void handleSessionEnd(userId);
    }),
  ];
  const engine: SyncEngine = {
    userId,
    client,
    readTracker,
    drafts,
    async stop() {
      for (const end of unsubscribe) end();
      await Promise.allSettled([readTracker.flush(), drafts.flush()]);
      await client.stop();
      liveQueries.set(undefined);
    },
  };
  currentEngine.set(engine);
  await client.start();
  const [context, data] = [client.context.get(), takeDocumentData()];
  // The data comes by the socket too: a database that does not answer does not hold up the start.
  if (context && data) await Promise.race([applyDocumentData(context, data), waitForTimer(platform)]);
  return engine;
};

/** Creates the engine once nothing says that the session has ended. Rejects with a SyncError if it has. */
const createEngineOfSession = async (userId: Uuid): Promise<SyncEngine> => {
  if (await confirmSession(userId)) return createEngine(userId);
  await deleteEndedData(userId);
  throw new SyncError("unavailable");
};

/**
 * Starts the engine of a person, or returns the running one. Stops the engine of another person first. Rejects with a
 * SyncError if the session has ended.
 */
export const startEngine = (userId: Uuid): Promise<SyncEngine> => {
  if (lastStart?.userId === userId) return lastStart.engine;
  const engine = stopEngine().then(() => createEngineOfSession(userId));
  lastStart = { userId, engine };
  return engine;
};

export const stopEngine = (): Promise<void> => {
  const before = lastStart;
  lastStart = undefined;
  if (!before) return pendingStop;
  currentEngine.set(undefined);
  pendingStop = pendingStop.then(async () => {
    const engine = await before.engine.catch(() => undefined);
    await engine?.stop();
  });
  return pendingStop;
};

const deleteLocalData = async (userId: Uuid): Promise<void> => {
  const platform = createBrowserPlatform(userId);
  purgeJournal({ platform, me: userId });
  await deleteAllData(platform, userId);
};

/**
 * Deletes what the end of a session demands: everything after a sign-out in any tab, this tab's last writes included;
 * everything but unsent data after the person ended the session from elsewhere. Otherwise all stays for its person, who
 * alone can open it again: a server that was restored from an older copy may have lost what this device holds.
 */
const deleteEndedData = (userId: Uuid): Promise<void> | undefined => {
  switch (getSessionEndCause()) {
    case "person":
    case "account":
      return deleteLocalData(userId);
    case "elsewhere":
      return deleteAllButUnsent(createBrowserPlatform(userId), userId);
    case undefined:
      return undefined;
  }
};

/** Stops the engine after the session ended. */
const handleSessionEnd = async (userId: Uuid): Promise<void> => {
  if (lastStart?.userId !== userId) return;
  void deleteFirstViews().catch(() => undefined);
  pendingStop = stopEngine()
    .then(() => deleteEndedData(userId))
    .catch((error: unknown) => console.warn("local data could not be removed", error));
  emitNotice("signed-out");
  await pendingStop;
};

/** Deletes the person's local data on sign-out and makes the other tabs close their stores. */
export const purgeLocalData = async (userId: Uuid): Promise<void> => {
  if (lastStart?.userId === userId) (await lastStart.engine.catch(() => undefined))?.client.announceSignOut();
  await stopEngine();
  await deleteLocalData(userId);
};
