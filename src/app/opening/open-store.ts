import { findConversation, hasTabBar, hasTwoPanes } from "#app/paths.ts";
import type { Uuid } from "#contract/ids.ts";
import { waitForIdle } from "#lib/browser/idle.ts";
import { getSession } from "#lib/session/session.ts";
import { startEngine } from "#sync/engine/engine.ts";
import { preloadFirstScreen } from "./first-screen-queries.ts";

const open = async (userId: Uuid, waitForEnd: () => Promise<void>): Promise<void> => {
  await startEngine(userId);
  const { pathname } = location;
  const places = {
    conversation: findConversation(pathname, userId),
    hasList: hasTwoPanes() || hasTabBar(pathname),
  };
  await preloadFirstScreen(userId, places, waitForEnd);
};

/** Opening of the store that began before the app's own code was there, until the app awaits it. */
let early: { userId: Uuid; opened: Promise<void>; isOpen: boolean; markAwaited: () => void } | undefined;

/** Begins to open the store of the signed-in person, for the `openStore` that follows. */
export const openStoreEarly = (): void => {
  const userId = getSession()?.userId;
  if (!userId) return;
  let markAwaited = () => {};
  const awaited = new Promise<void>((resolve) => {
    markAwaited = resolve;
  });
  const opened = new Promise<void>((resolve, reject) => {
    // In a task of its own, because the evaluation of the modules is long already.
    setTimeout(() => open(userId, () => awaited.then(waitForIdle)).then(resolve, reject));
  });
  const started = { userId, opened, isOpen: false, markAwaited };
  opened.then(
    () => {
      started.isOpen = true;
    },
    () => undefined, // reported by `openStore`
  );
  early = started;
};

/** Whether the store of this person is already open, and what the first screen shows was read. */
export const isStoreOpenEarly = (userId: Uuid): boolean => early?.userId === userId && early.isOpen;

/** Opens the person's local store and reads what the first screen shows. */
export const openStore = (userId: Uuid): Promise<void> => {
  const started = early;
  early = undefined;
  started?.markAwaited();
  return started?.userId === userId ? started.opened : open(userId, waitForIdle);
};
