import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { parseGroupPlace } from "#contract/messages/body.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useEngine, useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { fetchQuotedMessage, readQuotedMessage } from "#sync/inbound/quoted-message.ts";
import type { QuotedMessage } from "#sync/store/view-models.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";

/** Message that one in `chat` answers. One older than the stored messages is fetched when there is a network. */
export const useQuotedMessage = (
  chat: ConversationId,
  answered: ReplyTarget | undefined,
): QuotedMessage | undefined => {
  const place = parseGroupPlace(answered);
  const conversation = place?.group ?? chat;
  const target = place?.seq ?? answered;
  const engine = useEngine();
  const link = useLinkState();
  const quoted = useLiveQuery(
    target === undefined ? undefined : `quoted ${conversation} ${target}`,
    ({ store, unsent }) => readQuotedMessage({ store, unsent }, conversation, target ?? 0),
  );
  const [missing, setMissing] = useState<ReplyTarget>();
  const isWanted = quoted?.state === "absent" && link === "online" && typeof target === "number";
  useEffect(() => {
    if (!engine || !isWanted) return;
    let isCurrent = true;
    fetchQuotedMessage(engine.client, conversation, target).then(
      (isFound) => isCurrent && !isFound && setMissing(target),
      () => {}, // repeated after the next reconnection
    );
    return () => {
      isCurrent = false;
    };
  }, [engine, conversation, target, isWanted]);
  return quoted?.state === "absent" && missing === target ? { state: "unavailable" } : quoted;
};
