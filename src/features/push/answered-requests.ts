import type { Uuid } from "#contract/ids.ts";
import { toRequestTag } from "#contract/push.ts";

/**
 * Shown notifications of contact requests that wait for no answer any more. A device that is not visible may not have
 * received the request of a notification yet, so there only requests that it knew count as answered.
 */
export const listAnsweredRequests = <T extends { tag: string }>(
  shown: readonly T[],
  { before, received, isVisible }: { before: readonly Uuid[]; received: readonly Uuid[]; isVisible: boolean },
): T[] => {
  const [waiting, known] = [received, before].map((people) => new Set(people.map(toRequestTag)));
  return shown.filter(
    ({ tag }) => tag.startsWith(toRequestTag("")) && !waiting?.has(tag) && (isVisible || known?.has(tag)),
  );
};
