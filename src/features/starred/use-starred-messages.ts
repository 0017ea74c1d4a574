import { useEffect, useEffectEvent } from "react";
import type { ConversationId } from "#contract/ids.ts";
import type { SyncEngine } from "#sync/engine/engine.ts";
import { useEngine, useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { fetchStarredMessages, readStarredMessages, type StarredMessages } from "#sync/queries/starred-messages.ts";

/** Starred messages of all conversations or of one, newest star first. Those that this device lacks are fetched. */
export const useStarredMessages = (
  conversation: ConversationId | undefined,
  limit: number,
): StarredMessages | undefined => {
  const engine = useEngine();
  const starred = useLiveQuery(
    `starred ${conversation ?? ""} ${limit}`,
    (context) => readStarredMessages(context, conversation, limit),
    false,
  );
  const missing = starred?.messages.filter(({ message }) => !message) ?? [];
  const missingKey = missing.map((star) => `${star.conversation}:${star.seq}:${star.isPageable}`).join();
  const fetchMissing = useEffectEvent(({ client }: SyncEngine) => {
    // Without a network they are fetched when the list is opened again.
    fetchStarredMessages(client, missing).catch(() => undefined);
  });
  useEffect(() => {
    if (engine && missingKey !== "") fetchMissing(engine);
  }, [engine, missingKey]);
  return starred;
};
