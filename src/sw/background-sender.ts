import * as v from "valibot";
import { type ConversationId, Uuid } from "#contract/ids.ts";
import { sendBatchMax } from "#contract/limits/messages.ts";
import type { SendResult } from "#contract/wire/commands.ts";
import { BackgroundOutbox } from "#lib/browser/push/background-outbox.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";
import { readAppOutbox } from "./app-outbox.ts";
import { requestAsPerson, TemporaryFailure } from "./person-request.ts";
import { type SelectedMessage, selectMessages } from "./select-messages.ts";

/** Places of sent messages, as far as they are stored here. */
const SentPlaces = v.object({
  epoch: v.string(),
  sent: v.array(v.object({ cid: Uuid, seq: v.number(), at: v.number() })),
}) satisfies v.GenericSchema<unknown, SendResult>;

const sendMessages = async (
  user: Uuid,
  outbox: BackgroundOutbox,
  conversation: ConversationId,
  messages: readonly SelectedMessage[],
): Promise<boolean> => {
  const bodies = messages.map(({ n: _, ...message }) => message);
  const answer = await requestAsPerson(user, "POST", `/api/conversations/${conversation}/messages`, {
    messages: bodies,
  });
  if (!answer) return false;
  const { epoch, sent } = v.parse(SentPlaces, answer.body);
  const replies = new Map(messages.map(({ cid, n }) => [cid, n]));
  for (const { cid, seq, at } of sent) {
    const n = replies.get(cid);
    if (n === undefined) await outbox.insert([{ type: "sent", cid, conversation, place: { epoch, seq, at } }]);
    else await outbox.replace(n);
  }
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
    const outbox = new BackgroundOutbox(user);
    const entries = await outbox.list();
    const app = await readAppOutbox(user);
    if (!app) throw new TemporaryFailure("the app's outbox cannot be read");
    const outcome: SendingOutcome = { read: new Map(), refused: new Set() };
    for (const [conversation, messages] of selectMessages(app.rows, entries, app.held)) {
      if (!isWanted(conversation)) continue;
      for (let from = 0; from < messages.length && !outcome.refused.has(conversation); from += sendBatchMax) {
        const isSent = await sendMessages(user, outbox, conversation, messages.slice(from, from + sendBatchMax));
        if (!isSent) outcome.refused.add(conversation);
      }
    }
    for (const { n, entry } of entries) {
      if (entry.type !== "read" || !isWanted(entry.conversation)) continue;
      const { conversation, head } = entry;
      const marks = { delivered: head, read: head };
      await requestAsPerson(user, "PUT", `/api/conversations/${conversation}/marks`, marks);
      await outbox.replace(n);
      outcome.read.set(conversation, head);
    }
    await outbox.deleteIfEmpty();
    return outcome;
  });
