import { toInvitationTag, toRequestTag } from "#contract/push.ts";
import type { WaitingRequests } from "#sync/hooks/use-people.ts";

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
