import { GroupInvitations, groupInvitationsPath } from "#contract/groups.ts";
import { toInvitationTag, toRequestTag } from "#contract/push.ts";
import { listShownNotifications } from "#lib/browser/push/notification-lock.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import type { SyncEngine } from "#sync/engine/engine.ts";
import { subscribeReceivedRequests, type WaitingRequests } from "#sync/hooks/use-people.ts";

type RequestState = { before: WaitingRequests; now: WaitingRequests; isVisible: boolean };

/**
 * Shown notifications of contact requests that wait for no answer any more. A device that is not visible may not have
 * received the request of a notification yet, so there only requests that it knew count as answered.
 */
export const listAnsweredRequests = <T extends { tag: string }>(
  shown: readonly T[],
  { before, now, isVisible }: RequestState,
): T[] => {
  const [waiting, known] = [now, before].map(({ people }) => new Set(people.map(toRequestTag)));
  return shown.filter(
    ({ tag }) => tag.startsWith(toRequestTag("")) && !waiting?.has(tag) && (isVisible || known?.has(tag)),
  );
};

/**
 * Shown notifications of invitations to groups of which one or more wait for no answer any more; the others are the
 * server's to tell, as the device knows only their number. Empty if none has ended.
 */
export const listDoubtfulInvitations = <T extends { tag: string }>(
  shown: readonly T[],
  { before, now, isVisible }: RequestState,
): T[] => {
  const haveEnded = now.invitations < before.invitations || (now.invitations === 0 && isVisible);
  return haveEnded ? shown.filter(({ tag }) => tag.startsWith(toInvitationTag(""))) : [];
};

const nothing: WaitingRequests = { people: [], invitations: 0 };

/** Tags of the invitations that are open by the server's word: this device may not have caught up. */
const listOpenInvitationTags = async (): Promise<string[]> => {
  const body = parseResponse(GroupInvitations, await requestApi("GET", groupInvitationsPath));
  return body.invitations.map(({ id }) => toInvitationTag(id));
};

/**
 * Closes notifications of contact requests and invitations to groups that were answered or withdrawn, here or on
 * another device: the leader tab does so when one changes and when the page becomes visible. Returns a function that
 * stops it.
 */
export const closeAnsweredRequests = ({ client }: SyncEngine): (() => void) => {
  let now: WaitingRequests | undefined;
  const close = async (before: WaitingRequests) => {
    if (!client.isLeader || !now) return;
    const state = { before, now, isVisible: client.platform.isVisible() };
    const shown = await listShownNotifications();
    for (const notification of listAnsweredRequests(shown, state)) notification.close();
    const doubtful = listDoubtfulInvitations(shown, state);
    if (doubtful.length === 0) return;
    const open = await listOpenInvitationTags();
    for (const notification of doubtful) if (!open.includes(notification.tag)) notification.close();
  };
  const update = (before = nothing) =>
    void close(before).catch((error: unknown) => console.warn("notifications", error));
  const unsubscribe = subscribeReceivedRequests((waiting) => {
    const before = now;
    now = waiting;
    update(before);
  });
  const onVisibilityChange = () => update();
  document.addEventListener("visibilitychange", onVisibilityChange);
  return () => {
    unsubscribe();
    document.removeEventListener("visibilitychange", onVisibilityChange);
  };
};
