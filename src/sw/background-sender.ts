import * as v from "valibot";
import { type ConversationId, Uuid } from "#contract/ids.ts";
import { sendBatchMax } from "#contract/limits/messages.ts";
import type { SendResult } from "#contract/wire/commands.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";
import { requestAsPerson, TemporaryFailure } from "./person-request.ts";
import { type SelectedMessage, selectMessages } from "./select-messages.ts";
import { deleteRead, noteSent, readHeldConversations, readUnsent } from "./unsent-messages.ts";

/** Places of sent messages, as far as they are stored here. */
const SentPlaces = v.object({
  epoch: v.string(),
  sent: v.array(v.object({ cid: Uuid, seq: v.number(), at: v.number() })),
}) satisfies v.GenericSchema<unknown, SendResult>;

const sendMessages = async (
  user: Uuid,
  conversation: ConversationId,
  messages: readonly SelectedMessage[],
): Promise<boolean> => {
  const answer = await requestAsPerson(user, "POST", `/api/conversations/${conversation}/messages`, { messages });
  if (!answer) return false;
  const { epoch, sent } = v.parse(SentPlaces, answer.body);
  await noteSent(user, new Map(sent.map(({ cid, seq, at }) => [cid, { epoch, seq, at }])));
  return true;
};

/** Result of sending: the read positions sent, and the conversations of which the server refused a message for good. */
export type SendingOutcome = { read: Map<ConversationId, number>; refused: Set<ConversationId> };

/**
 * Sends a person's messages and read positions that are stored on this device, of one conversation or of all. Messages
 * keep their client ids, so that the server stores each once, whoever else sends them; the app explains refusals.
 * Rejects with a TemporaryFailure if something has to be tried again.
 */
export const sendInBackground = (user: Uuid, only?: ConversationId): Promise<SendingOutcome> =>
  navigator.locks.request(`${storeNamePrefix}${user}-sending`, async () => {
    const isWanted = (conversation: ConversationId) => only === undefined || conversation === only;
    const { messages, reads } = await readUnsent(user);
    const wanted = messages.filter(({ conversation }) => isWanted(conversation));
    const held = await readHeldConversations(
      user,
      wanted.map(({ conversation }) => conversation),
    );
    if (!held) throw new TemporaryFailure("the local store cannot be read");
    const outcome: SendingOutcome = { read: new Map(), refused: new Set() };
    for (const [conversation, selected] of selectMessages(wanted, held)) {
      for (let from = 0; from < selected.length && !outcome.refused.has(conversation); from += sendBatchMax) {
        const isSent = await sendMessages(user, conversation, selected.slice(from, from + sendBatchMax));
        if (!isSent) outcome.refused.add(conversation);
      }
    }
    for (const read of reads.filter(({ conversation }) => isWanted(conversation))) {
      const { conversation, head } = read;
      const marks = { delivered: head, read: head };
      await requestAsPerson(user, "PUT", `/api/conversations/${conversation}/marks`, marks);
      await deleteRead(user, read);
      outcome.read.set(conversation, head);
    }
    return outcome;
  });
