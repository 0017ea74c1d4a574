import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { MessageInfo, messageInfoPath } from "#contract/wire/message-info.ts";
import { getEngine } from "#sync/engine/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

/** Times of an own message in a private chat, from the server. Rejects with a SyncError. */
export const fetchMessageInfo = async (conversation: ConversationId, seq: number): Promise<MessageInfo> => {
  const path = messageInfoPath(conversation, seq);
  const parsed = v.safeParse(MessageInfo, await getEngine().client.platform.request({ method: "GET", path }));
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};
