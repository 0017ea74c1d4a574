import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Body } from "#contract/messages/body.ts";
import type { LocalStore } from "#sync/store/database.ts";

const pendingEditPrefix = "edit:";

/**
 * Edit of an own message that the server has not confirmed. `target` is the client id of the message, or its seq if
 * this device does not know it; `edit` the number of earlier edits seen or made here; `body` the message as its author
 * sees it. `error`: why the server refused the edit; its author decides.
 */
export type PendingEdit = {
  conversation: ConversationId;
  target: Uuid | number;
  edit: number;
  text: string;
  body: Body;
  error?: ErrorCode;
};

/** Whether a `meta` key belongs to a pending edit. */
export const isPendingEditKey = (key: string): boolean => key.startsWith(pendingEditPrefix);

export const toPendingEditKey = ({ conversation, target }: Pick<PendingEdit, "conversation" | "target">): string =>
  `${pendingEditPrefix}${conversation} ${target}`;

/** Pending edits of a conversation, or of all. */
export const listPendingEdits = async ({ meta }: LocalStore, conversation = ""): Promise<PendingEdit[]> =>
  (
    await meta
      .where("key")
      .startsWith(pendingEditPrefix + conversation)
      .toArray()
  ).map(({ value }) => value as PendingEdit);
