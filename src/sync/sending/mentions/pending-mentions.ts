import Dexie from "dexie";
import { privateMembers } from "#contract/ids.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

type Written = Pick<OutboxRow, "conversation" | "body"> & Partial<Pick<OutboxRow, "source" | "multicastId">>;

const nameStart = /(^|[^\p{L}\p{N}\p{M}_.@-])@\S/u; // not an e-mail address

/** Whether a message may mention members: it is written for one group, and a name may follow an "@". */
export const mayMention = ({ conversation, body, source, multicastId }: Written): boolean =>
  !source && !multicastId && "text" in body && nameStart.test(body.text ?? "") && !privateMembers(conversation);

/**
 * The body with the mentions of members that its text names. Without the code for it or the member list, they are found
 * before the message is sent.
 */
export const findOrDeferMentions = async (
  context: SyncContext,
  { conversation, body }: Written,
): Promise<Pick<OutboxRow, "body" | "mayMention">> => {
  const loading = import("./named-mentions.ts").catch(() => undefined);
  const code = await Dexie.waitFor(loading); // keeps the transaction, so that later messages stay behind
  return (await code?.resolveMentions(context, conversation, body)) ?? { body, mayMention: true };
};
