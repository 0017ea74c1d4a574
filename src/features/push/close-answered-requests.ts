import { GroupInvitations, groupInvitationsPath } from "#contract/groups.ts";
import { toInvitationTag } from "#contract/push.ts";
import { listShownNotifications } from "#lib/browser/push/notification-lock.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import type { SyncEngine } from "#sync/engine/engine.ts";
import { subscribeReceivedRequests, type WaitingRequests } from "#sync/hooks/use-people.ts";
import { listAnsweredRequests, listDoubtfulInvitations } from "./answered-requests.ts";

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
