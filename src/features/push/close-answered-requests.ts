import type { Uuid } from "#contract/ids.ts";
import { listShownNotifications } from "#lib/browser/push/notification-lock.ts";
import type { SyncEngine } from "#sync/engine.ts";
import { subscribeReceivedRequests } from "#sync/hooks/use-people.ts";
import { listAnsweredRequests } from "./answered-requests.ts";

/**
 * Closes notifications of contact requests that were answered or withdrawn, here or on another device: the leader tab does
 * so when a request changes and when the page becomes visible. Returns a function that stops it.
 */
export const closeAnsweredRequests = ({ tab }: SyncEngine): (() => void) => {
  let received: readonly Uuid[] | undefined;
  const close = async (before: readonly Uuid[]) => {
    if (!tab.isLeader || !received) return;
    const state = { before, received, isVisible: tab.platform.isVisible() };
    for (const notification of listAnsweredRequests(await listShownNotifications(), state)) notification.close();
  };
  const update = (before: readonly Uuid[] = []) =>
    void close(before).catch((error: unknown) => console.warn("notifications", error));
  const unsubscribe = subscribeReceivedRequests((people) => {
    const before = received;
    received = people;
    update(before);
  });
  const onVisibilityChange = () => update();
  document.addEventListener("visibilitychange", onVisibilityChange);
  return () => {
    unsubscribe();
    document.removeEventListener("visibilitychange", onVisibilityChange);
  };
};
