import type { Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import { onAuthEvent } from "#lib/session/auth-events.ts";
import { wasSignedOut } from "#lib/session/session.ts";
import { Drafts } from "./drafts/text-drafts.ts";
import { Shelf } from "./files/object-urls.ts";
import { Viewed } from "./inbound/read-state.ts";
import { keepTakingUp } from "./outbox/enqueue.ts";
import { browserPlatform } from "./platform/browser-platform.ts";
import { LiveQueries } from "./queries/live-queries.ts";
import { inBackground } from "./store/context.ts";
import { storeName } from "./store/database.ts";
import { dropJotted } from "./store/journal.ts";
import { deleteStore, keepUnsentOnly } from "./store/recovery/open-database.ts";
import { type Notice, Tab } from "./tabs/tab.ts";
import { readUnsent, type Unsent } from "./unsent-summary.ts";

/** The running synchronisation of one person in this tab. */
export type Sync = {
  readonly userId: Uuid;
  readonly tab: Tab;
  readonly viewed: Viewed;
  readonly drafts: Drafts;
  readonly shelf: Shelf;
};
type Running = Sync & { stop(): Promise<void> };

/** What screens hang on: undefined until a store is open, another object after it was opened anew. */
export const running = new Observable<Sync | undefined>(undefined);
export const liveQueries = new Observable<LiveQueries | undefined>(undefined);

const notices = new Set<(notice: Notice) => void>();
const notify = (notice: Notice): void => {
  for (const listener of [...notices]) listener(notice);
};

/** Tells what a person should hear of: a store that was made anew, a version too old, a session that ended. */
export const subscribeNotices = (listener: (notice: Notice) => void): (() => void) => {
  notices.add(listener);
  return () => {
    notices.delete(listener);
  };
};

let current: { userId: Uuid; started: Promise<Running> } | undefined;
/** Ends run one after another, and a start waits for them: what they close must not be the new one's. */
let ending: Promise<void> = Promise.resolve();

const start = async (userId: Uuid): Promise<Running> => {
  const platform = browserPlatform(userId);
  const tab = new Tab(userId, platform, (notice) => {
    if (notice === "signed-out") void endSession(userId);
    else notify(notice);
  });
  const viewed = new Viewed(tab);
  const drafts = new Drafts(tab);
  const shelf = new Shelf(tab);
  const follow = () => {
    const context = tab.context.get();
    liveQueries.set(context && new LiveQueries(context));
  };
  const flush = () => {
    const context = tab.context.get();
    if (context) inBackground(context, viewed.flush());
    drafts.leave();
  };
  const unsubscribe = [
    tab.context.subscribe(follow),
    platform.onLeave(flush),
    onAuthEvent((_, session) => {
      if (session?.userId !== userId) void endSession(userId);
    }),
  ];
  const sync: Running = {
    userId,
    tab,
    viewed,
    drafts,
    shelf,
    async stop() {
      for (const end of unsubscribe) end();
      shelf.stop();
      await Promise.allSettled([viewed.flush(), drafts.flush()]);
      await tab.stop();
      liveQueries.set(undefined);
    },
  };
  running.set(sync);
  await tab.start();
  unsubscribe.push(keepTakingUp(tab));
  return sync;
};

/** Opens the person's local store and keeps it level with the server. Once per tab; again for the same person is the same. */
export const startSync = (userId: Uuid): Promise<Sync> => {
  if (current?.userId === userId) return current.started;
  const stopped = stopSync();
  const started = stopped.then(() => start(userId));
  current = { userId, started };
  return started;
};

export const stopSync = (): Promise<void> => {
  const before = current;
  current = undefined;
  if (!before) return ending;
  running.set(undefined);
  ending = ending.then(async () => {
    const sync = await before.started.catch(() => undefined);
    await sync?.stop();
  });
  return ending;
};

const deleteData = async (userId: Uuid): Promise<void> => {
  const platform = browserPlatform(userId);
  dropJotted({ platform, me: userId });
  await deleteStore(platform, storeName(userId));
};

/**
 * A session that ended by itself, or another person's that began: the data goes, unsent messages wait for their
 * author. Where its person ended it, in whichever tab, nothing waits: what this tab wrote last goes too.
 */
const endSession = async (userId: Uuid): Promise<void> => {
  if (current?.userId !== userId) return;
  ending = stopSync()
    .then(() => (wasSignedOut() ? deleteData(userId) : keepUnsentOnly(browserPlatform(userId), userId)))
    .catch((error: unknown) => console.warn("local data could not be removed", error));
  notify("signed-out");
  await ending;
};

/** Sign-out: deletes the person's local data, in this tab and under the others. */
export const wipeLocalData = async (userId: Uuid): Promise<void> => {
  if (current?.userId === userId) (await current.started.catch(() => undefined))?.tab.announceEnd();
  await stopSync();
  await deleteData(userId);
};

/** What a sign-out would lose, with what was typed in this moment. */
export const findUnsent = async (): Promise<Unsent> => {
  const { tab, drafts } = running.get() ?? {};
  drafts?.leave();
  await drafts?.flush();
  const context = tab?.context.get();
  return context ? readUnsent(context) : { messages: 0, posts: 0, drafts: 0, deletions: 0 };
};
