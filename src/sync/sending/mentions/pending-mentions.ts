import { privateMembers } from "#contract/ids.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";

type Written = Pick<OutboxRow, "conversation" | "body"> & Partial<Pick<OutboxRow, "source" | "multicastId">>;

const nameStart = /(^|[^\p{L}\p{N}\p{M}_.@-])@\S/u; // not an e-mail address

/** Whether a message may mention members: it is written for one group, and a name may follow an "@". */
export const mayMention = ({ conversation, body, source, multicastId }: Written): boolean =>
  !source && !multicastId && "text" in body && nameStart.test(body.text ?? "") && !privateMembers(conversation);
