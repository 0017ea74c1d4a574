import type { Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import { subscribeToAuthEvents } from "#lib/session/auth-events.ts";
import { wasSignedOut } from "#lib/session/session.ts";
import { TextDrafts } from "./drafts/text-drafts.ts";
import { ObjectUrlCache } from "./files/object-urls.ts";
import { ReadTracker } from "./inbound/read-tracker.ts";
import { startJournalRecovery } from "./outbox/enqueue.ts";
import { createBrowserPlatform } from "./platform/browser-platform.ts";
import { LiveQueries } from "./queries/live-queries.ts";
import { toStoreName } from "./store/database.ts";
import { purgeJournal } from "./store/journal.ts";
import { deleteStore, purgeAllButUnsent } from "./store/recovery/open-database.ts";
import { runInBackground } from "./store/sync-context.ts";
import { type SyncNotice, Tab } from "./tabs/tab.ts";
import { readUnsentSummary, type UnsentSummary } from "./unsent-summary.ts";

/** The running synchronisation of one person in this tab. */
export type SyncEngine = {
  readonly userId: Uuid;
  readonly tab: Tab;
  readonly readTracker: ReadTracker;
  readonly drafts: TextDrafts;
  readonly objectUrls: ObjectUrlCache;
};
type RunningSync = SyncEngine & { stop(): Promise<void> };

/** What screens hang on: undefined until a store is open, another object after it was opened anew. */
export const activeEngine = new Observable<SyncEngine | undefined>(undefined);
export const liveQueries = new Observable<LiveQueries | undefined>(undefined);

const syncNoticeListeners = new Set<(notice: SyncNotice) => void>();
const emitNotice = (notice: SyncNotice): void => {
  for (const listener of [...syncNoticeListeners]) listener(notice);
};

/** Tells what a person should hear of: a store that was made anew, a version too old, a session that ended. */
export const subscribeNotices = (listener: (notice: SyncNotice) => void): (() => void) => {
  syncNoticeListeners.add(listener);
  return () => {
    syncNoticeListeners.delete(listener);
  };
};

let currentSync: { userId: Uuid; started: Promise<RunningSync> } | undefined;
/** Ends run one after another, and a start waits for them: what they close must not be the new one's. */
let pendingStop: Promise<void> = Promise.resolve();

const start = async (userId: Uuid): Promise<RunningSync> => {
  const platform = createBrowserPlatform(userId);
  const tab = new Tab(userId, platform, (notice) => {
    if (notice === "signed-out") void handleSessionEnd(userId);
    else emitNotice(notice);
  });
  const viewed = new ReadTracker(tab);
  const drafts = new TextDrafts(tab);
  const objectUrls = new ObjectUrlCache(tab);
  const follow = () => {
    const context = tab.context.get();
    liveQueries.set(context && new LiveQueries(context));
  };
  const flush = () => {
    const context = tab.context.get();
    if (context) runInBackground(context, viewed.flush());
    drafts.flushToJournal();
  };
  const unsubscribe = [
    tab.context.subscribe(follow),
    platform.onLeave(flush),
    subscribeToAuthEvents((_, session) => {
      if (session?.userId !== userId) void handleSessionEnd(userId);
    }),
  ];
  const sync: RunningSync = {
    userId,
    tab,
    readTracker: viewed,
    drafts,
    objectUrls,
    async stop() {
      for (const end of unsubscribe) end();
      objectUrls.stop();
      await Promise.allSettled([viewed.flush(), drafts.flush()]);
      await tab.stop();
      liveQueries.set(undefined);
    },
  };
  activeEngine.set(sync);
  await tab.start();
  unsubscribe.push(startJournalRecovery(tab));
  return sync;
};

/** Opens the person's local store and keeps it level with the server. Once per tab; again for the same person is the same. */
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
    const sync = await before.started.catch(() => undefined);
    await sync?.stop();
  });
  return pendingStop;
};

const deleteLocalData = async (userId: Uuid): Promise<void> => {
  const platform = createBrowserPlatform(userId);
  purgeJournal({ platform, me: userId });
  await deleteStore(platform, toStoreName(userId));
};

/**
 * A session that ended by itself, or another person's that began: the data goes, unsent messages wait for their
 * author. Where its person ended it, in whichever tab, nothing waits: what this tab wrote last goes too.
 */
const handleSessionEnd = async (userId: Uuid): Promise<void> => {
  if (currentSync?.userId !== userId) return;
  pendingStop = stopSync()
    .then(() => (wasSignedOut() ? deleteLocalData(userId) : purgeAllButUnsent(createBrowserPlatform(userId), userId)))
    .catch((error: unknown) => console.warn("local data could not be removed", error));
  emitNotice("signed-out");
  await pendingStop;
};

/** Sign-out: deletes the person's local data, in this tab and under the others. */
export const purgeLocalData = async (userId: Uuid): Promise<void> => {
  if (currentSync?.userId === userId) (await currentSync.started.catch(() => undefined))?.tab.announceSignOut();
  await stopSync();
  await deleteLocalData(userId);
};

/** What a sign-out would lose, with what was typed in this moment. */
export const getUnsentSummary = async (): Promise<UnsentSummary> => {
  const { tab, drafts } = activeEngine.get() ?? {};
  drafts?.flushToJournal();
  await drafts?.flush();
  const context = tab?.context.get();
  return context ? readUnsentSummary(context) : { messages: 0, posts: 0, drafts: 0, deletions: 0 };
};
