import type { ConversationId, Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { compareOrder, type OutboxRow } from "./outbox-row.ts";
import type { UnsentChange, UnsentState } from "./unsent-state.ts";

/** Messages that the server has not acknowledged, as the image in memory (`unsent-store.ts`) has them. */

type Image = { list(): UnsentState };

/** All unsent messages in sending order. */
export const listOutbox = (unsent: Image): OutboxRow[] => [...unsent.list().outbox.values()].sort(compareOrder);

/** Unsent messages of a conversation in sending order. */
export const listUnsent = (unsent: Image, conversation: ConversationId): OutboxRow[] =>
  listOutbox(unsent).filter((row) => row.conversation === conversation);

/** File whose upload a message waits for; undefined for a forwarded one, whose file the server has. */
export const findUploadFile = ({ body, source }: Pick<OutboxRow, "body" | "source">): Uuid | undefined =>
  source ? undefined : findAttachment(body)?.file;

/** Unsent messages that reference a file. */
export const listUnsentByFile = (unsent: Image, file: Uuid): OutboxRow[] =>
  listOutbox(unsent).filter(({ body }) => findAttachment(body)?.file === file);

/** Files that unsent messages reference. */
export const listUnsentFiles = (unsent: Image): Set<Uuid> =>
  new Set(listOutbox(unsent).flatMap(({ body }) => findAttachment(body)?.file ?? []));

/** Order of a message that is sent after all others. */
export const nextOrder = (unsent: Image): number =>
  [...unsent.list().outbox.values()].reduce((last, { order }) => Math.max(last, order), 0) + 1;

/**
 * Change of an unsent message, at a device time. Nothing happens if it has been deleted meanwhile. Each version has a
 * time of its own, also after the clock was set back.
 */
export const changeMessage = (
  cid: Uuid,
  at: number,
  change: (row: OutboxRow) => OutboxRow | undefined,
): UnsentChange => ({
  table: "outbox",
  key: cid,
  change: (row) => {
    const next = row && change(row);
    return next && next !== row ? { ...next, at: Math.max(at, row.at + 1) } : next;
  },
});

/** Deletion of an unsent message, because the server has it or nobody wants it any more. */
export const deleteMessage = (cid: Uuid): UnsentChange => ({ table: "outbox", key: cid, change: () => undefined });
