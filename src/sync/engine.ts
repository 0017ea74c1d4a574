import type { Uuid } from "#contract/ids.ts";
import { findFirstView } from "#lib/browser/first-view.ts";
import { deleteFirstViews } from "#lib/browser/first-view-cache.ts";
import { Observable } from "#lib/browser/observable.ts";
import { subscribeToAuthEvents } from "#lib/session/auth-events.ts";
import { wasSignedOut } from "#lib/session/session.ts";
import { recoverEarlyDrafts } from "./drafts/early-drafts.ts";
import { TextDrafts } from "./drafts/text-drafts.ts";
import { ObjectUrlCache } from "./files/object-urls.ts";
import { applyDocumentData, takeDocumentData } from "./inbound/document-data.ts";
import { ReadTracker } from "./inbound/read-tracker.ts";
import { startJournalRecovery } from "./outbox/enqueue.ts";
import { createBrowserPlatform } from "./platform/browser-platform.ts";
import { SyncError } from "./platform/sync-error.ts";
import { LiveQueries } from "./queries/live-queries.ts";
import { toStoreName } from "./store/database.ts";
import { purgeJournal } from "./store/journal.ts";
import { deleteStore, purgeAllButUnsent } from "./store/recovery/open-database.ts";
import { runInBackground } from "./store/sync-context.ts";
import { type SyncNotice, Tab } from "./tabs/tab.ts";
import { readUnsentSummary, type UnsentSummary } from "./unsent-summary.ts";

/** Running sync engine of one person in this tab, with the caches of its screens. */
export type SyncEngine = {
  readonly userId: Uuid;
  readonly tab: Tab;
  readonly readTracker: ReadTracker;
  readonly drafts: TextDrafts;
  readonly objectUrls: ObjectUrlCache;
};
type RunningSync = SyncEngine & { stop(): Promise<void> };

/** Engine that screens use; undefined while none runs. */
export const activeEngine = new Observable<SyncEngine | undefined>(undefined);

/** Running engine. Throws a SyncError while none runs. */
export const getEngine = (): SyncEngine => {
  const engine = activeEngine.get();
  if (!engine) throw new SyncError("unavailable");
  return engine;
};

/** Live queries of the open store; undefined while no store is open. */
export const liveQueries = new Observable<LiveQueries | undefined>(undefined);

const syncNoticeListeners = new Set<(notice: SyncNotice) => void>();
const emitNotice = (notice: SyncNotice): void => {
  for (const listener of [...syncNoticeListeners]) listener(notice);
};

/** Subscribes to notices for the person, such as a rebuilt store, an outdated app or an ended session. */
export const subscribeNotices = (listener: (notice: SyncNotice) => void): (() => void) => {
  syncNoticeListeners.add(listener);
  return () => {
    syncNoticeListeners.delete(listener);
  };
};

let currentSync: { userId: Uuid; started: Promise<RunningSync> } | undefined;
/** Stops run one after another, and a start waits for them, so that they do not close the stores of the new engine. */
let pendingStop: Promise<void> = Promise.resolve();

const start = async (userId: Uuid): Promise<RunningSync> => {
  const platform = createBrowserPlatform(userId);
  const tab = new Tab(userId, platform, (notice) => {
    if (notice === "signed-out") void handleSessionEnd(userId);
    else emitNotice(notice);
  });
  const readTracker = new ReadTracker(tab);
  const drafts = new TextDrafts(tab);
  const objectUrls = new ObjectUrlCache(tab);
  const follow = () => {
    const context = tab.context.get();
    liveQueries.set(context && new LiveQueries(context));
  };
  const flush = () => {
    const context = tab.context.get();
    if (context) runInBackground(context, readTracker.flush());
    drafts.flushToJournal();
  };
  const unsubscribe = [
    tab.context.subscribe(follow),
    platform.onLeave(flush),
    subscribeToAuthEvents((_, session) => {
      if (session?.userId !== userId) void handleSessionEnd(userId);
    }),
  ];
  const engine: RunningSync = {
    userId,
    tab,
    readTracker,
    drafts,
    objectUrls,
    async stop() {
      for (const end of unsubscribe) end();
      objectUrls.stop();
      await Promise.allSettled([readTracker.flush(), drafts.flush()]);
      await tab.stop();
      liveQueries.set(undefined);
    },
  };
  activeEngine.set(engine);
  await tab.start();
  const [context, data] = [tab.context.get(), takeDocumentData()];
  if (context && data) await applyDocumentData(context, data);
  unsubscribe.push(startJournalRecovery(tab));
  const conversationOnScreen = typeof document === "undefined" ? undefined : findFirstView()?.dataset["conversation"];
  if (context) runInBackground(context, recoverEarlyDrafts(tab, drafts, conversationOnScreen));
  return engine;
};

/** Starts the engine of a person, or returns the running one. Stops the engine of another person first. */
export const startSync = (userId: Uuid): Promise<SyncEngine> => {
  if (currentSync?.userId === userId) return currentSync.started;
  const stopped = stopSync();
  const started = stopped.then(() => start(userId));
  currentSync = { userId, started };
  return started;
};

export const stopSync = (): Promise<void> => {
  const before = currentSync;
  currentSync = undefined;
  if (!before) return pendingStop;
  activeEngine.set(undefined);
  pendingStop = pendingStop.then(async () => {
    const engine = await before.started.catch(() => undefined);
    await engine?.stop();
  });
  return pendingStop;
};

const deleteLocalData = async (userId: Uuid): Promise<void> => {
  const platform = createBrowserPlatform(userId);
  purgeJournal({ platform, me: userId });
  await deleteStore(platform, toStoreName(userId));
};

/**
 * Stops the engine after the session ended, and deletes the local data. Unsent data stays for its author if the session
 * expired or another person signed in. After a sign-out in any tab everything is deleted, this tab's last writes included.
 */
const handleSessionEnd = async (userId: Uuid): Promise<void> => {
  if (currentSync?.userId !== userId) return;
  void deleteFirstViews().catch(() => undefined);
  pendingStop = stopSync()
    .then(() => (wasSignedOut() ? deleteLocalData(userId) : purgeAllButUnsent(createBrowserPlatform(userId), userId)))
    .catch((error: unknown) => console.warn("local data could not be removed", error));
  emitNotice("signed-out");
  await pendingStop;
};

/** Deletes the person's local data on sign-out and makes the other tabs close their stores. */
export const purgeLocalData = async (userId: Uuid): Promise<void> => {
  if (currentSync?.userId === userId) (await currentSync.started.catch(() => undefined))?.tab.announceSignOut();
  await stopSync();
  await deleteLocalData(userId);
};

/** Unsent data that a sign-out would delete, including text typed just now. */
export const getUnsentSummary = async (): Promise<UnsentSummary> => {
  const { tab, drafts } = activeEngine.get() ?? {};
  drafts?.flushToJournal();
  await drafts?.flush();
  const context = tab?.context.get();
  return context ? readUnsentSummary(context) : { messages: 0, posts: 0, drafts: 0, deletions: 0 };
};
