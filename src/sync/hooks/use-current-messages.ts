import { useEffect, useRef } from "react";
import { type StoredBody, searchTextOfBody } from "#contract/messages/body.ts";
import { fetchQuotedMessage } from "#sync/inbound/quoted-message.ts";
import { type MessagePlace, readCurrentMessages, toPlaceKey } from "#sync/queries/current-messages.ts";
import { useEngine, useLiveQuery } from "./use-live-query.ts";

/**
 * Messages that were found earlier as they are now: edited ones have their new text, deleted and cleared ones are gone.
 * Those that only the server has are fetched once their conversation has revised messages. An edited one that does not
 * match any more (`isMatch`) is gone as well.
 */
export const useCurrentMessages = <T extends MessagePlace & { body: StoredBody }>(
  found: readonly T[],
  isMatch: (message: T) => boolean = () => true,
): T[] => {
  const engine = useEngine();
  const places = found.filter(({ seq }) => seq !== undefined);
  const current = useLiveQuery(
    places.length > 0 ? `current ${places.map(toPlaceKey).join()}` : undefined,
    (context) => readCurrentMessages(context, places),
    false,
  );
  const seenRevisions = useRef<Record<string, number>>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: the messages of the places are read anew when these change
  useEffect(() => {
    if (!engine || !current) return;
    const { bodies, revisions } = current;
    for (const { conversation, seq } of places) {
      const seen = seenRevisions.current[conversation] ?? Number.POSITIVE_INFINITY;
      if (seq === undefined || toPlaceKey({ conversation, seq }) in bodies || (revisions[conversation] ?? 0) <= seen)
        continue;
      fetchQuotedMessage(engine.client, conversation, seq).catch(() => {
        seenRevisions.current[conversation] = seen; // with the next change again
      });
    }
    seenRevisions.current = { ...seenRevisions.current, ...revisions };
  }, [engine, current]);
  return found.flatMap((message) => {
    const body = current?.bodies[toPlaceKey(message)];
    if (body === undefined || body === message.body) return message;
    if (!body) return [];
    const hasNewText = searchTextOfBody(body) !== searchTextOfBody(message.body);
    const edited = { ...message, body };
    return hasNewText && !isMatch(edited) ? [] : edited;
  });
};
