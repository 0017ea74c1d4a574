import * as v from "valibot";
import type { Message } from "#contract/messages/message.ts";
import { Seq, Watermark } from "#contract/messages/positions.ts";

/**
 * Flags of the messages of one conversation, private to a person and the same on all their devices
 * (docs/decisions/message-flags.md): starred ones with the time, and those they deleted for themselves. `revision`:
 * number of the last change, as in the inbox row.
 */
export const MessageFlags = v.object({
  revision: Watermark,
  starred: v.array(v.object({ seq: Seq, at: v.number() })),
  deleted: v.array(Seq),
});
export type MessageFlags = v.InferOutput<typeof MessageFlags>;

/** A message after its reader deleted it for themselves: a place in the log without content. */
export const withoutContent = ({ seq, sender, at, cid }: Message): Message => ({
  seq,
  sender,
  at,
  body: { type: "withheld" },
  ...(cid === undefined ? {} : { cid }),
});
