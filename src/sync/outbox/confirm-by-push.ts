import type { LocalStore } from "#sync/store/database.ts";
import type { Tab } from "#sync/tabs/tab.ts";

const pollIntervalMs = 100;
/** After its answer was lost, what was done is told by itself within this, or was not done. */
const pushTimeoutMs = 2_500;

const isResponseLost = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "offline" || error.code === "unavailable");

/**
 * What is done on the server is told to this device besides, as to all others: on a bad network before the answer
 * comes, or without one. Undefined when it was told first: then it is in the store already, and what comes late of the
 * answer, or of its loss, says nothing new.
 */
export const confirmByAnswerOrPush = async <T>(
  tab: Tab,
  ask: () => Promise<T>,
  hasHeard: (store: LocalStore) => Promise<boolean>,
): Promise<T | undefined> => {
  const { platform } = tab;
  let until = Number.POSITIVE_INFINITY;
  const hear = async (): Promise<boolean> => {
    for (;;) {
      await new Promise<void>((resolve) => platform.startTimer(pollIntervalMs, resolve));
      // A page that slept through it all looks once more all the same.
      const isLast = platform.now() >= until;
      const store = tab.context.get()?.store;
      // A store that cannot be read has heard nothing; the answer is waited for.
      if (store && (await hasHeard(store).catch(() => false))) return true;
      if (isLast) return false;
    }
  };
  const hearing = hear();
  const asking = ask();
  try {
    return await Promise.race([asking, hearing.then((isHeard) => (isHeard ? undefined : asking))]);
  } catch (error) {
    if (!isResponseLost(error) || tab.link.get() !== "online") throw error;
    tab.refresh();
    until = platform.now() + pushTimeoutMs;
    if (await hearing) return undefined;
    throw error;
  } finally {
    until = 0;
  }
};
