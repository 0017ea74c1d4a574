import type { StoredBody } from "#contract/conversations.ts";
import { type MessagePlace, readCurrentBodies, toPlaceKey } from "#sync/queries/current-messages.ts";
import { useLiveQuery } from "./use-live-query.ts";

/** Messages that were found earlier as they are now: edited ones have their new text, deleted and cleared ones are gone. */
export const useCurrentMessages = <T extends MessagePlace & { body: StoredBody }>(found: readonly T[]): T[] => {
  const places = found.filter(({ seq }) => seq !== undefined);
  const bodies = useLiveQuery(
    places.length > 0 ? `current ${places.map(toPlaceKey).join()}` : undefined,
    ({ store }) => readCurrentBodies(store, places),
    false,
  );
  return found.flatMap((message) => {
    const body = bodies?.[toPlaceKey(message)];
    if (body === undefined || body === message.body) return message;
    return body ? { ...message, body } : [];
  });
};
