import * as v from "valibot";
import { errorCodes } from "#contract/errors.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { type Body, ForwardSource, findAttachment } from "#contract/messages/body.ts";
import { Seq } from "#contract/messages/positions.ts";

/** Body as it was written. The server checks it: one that this version does not know must not disappear here. */
export const WrittenBody = v.custom<Body>((body) => typeof body === "object" && body !== null && "type" in body);

/** Message that the server has not acknowledged, in the table `outbox` of the unsent database. */
export const OutboxRow = v.looseObject({
  cid: Uuid,
  conversation: ConversationId,
  /** Sending order: increases with every message written on this device. */
  order: v.number(),
  body: WrittenBody,
  /** When it was written, by the clock of the server as far as it is known. */
  createdAt: v.number(),
  /** Device time of the last change of the row. */
  at: v.number(),
  /** "awaiting": its file is uploading; later messages may overtake it. */
  state: v.picklist(["queued", "awaiting", "failed"]),
  error: v.optional(v.picklist(errorCodes)),
  attempts: v.number(),
  /** Origin of a forwarded message. */
  source: v.optional(ForwardSource),
  /** Own message that it answers and that had no place in the log. It is sent after that one, whose seq it then names. */
  replyTo: v.optional(Uuid),
  /**
   * Its text may name members of a group whose list this device did not have when it was written: they are found before
   * it is sent.
   */
  mayMention: v.optional(v.literal(true)),
  /** Multicast id: messages of one body to many conversations are sent together. */
  multicastId: v.optional(Uuid),
  /** Id of files chosen together: each is sent after the earlier ones that are still uploading. */
  batch: v.optional(Uuid),
  /** Its upload is paused by the person and does not delay later files of the batch. */
  paused: v.optional(v.literal(true)),
  /** Time when its upload was complete. */
  readyAt: v.optional(v.number()),
  /** Place in the log where the service worker has sent it. The app stores it there and deletes the row. */
  sent: v.optional(v.object({ epoch: v.string(), seq: Seq, at: v.number() })),
});
export type OutboxRow = v.InferOutput<typeof OutboxRow>;

/** File whose upload a message waits for; undefined for a forwarded one, whose file the server has. */
export const findUploadFile = ({ body, source }: Pick<OutboxRow, "body" | "source">): Uuid | undefined =>
  source ? undefined : findAttachment(body)?.file;

/** Conversation that was read in a notification up to `head`, in the table `reads`, until the server was told. */
export const ReadRow = v.looseObject({ conversation: ConversationId, head: v.number(), at: v.number() });
export type ReadRow = v.InferOutput<typeof ReadRow>;

/** Sending order of two messages. Pages that wrote at the same moment may have given both the same `order`. */
export const compareOrder = (a: OutboxRow, b: OutboxRow): number => a.order - b.order || (a.cid < b.cid ? -1 : 1);

/**
 * The committed row and one that a page could not commit: the later one. A message that another page deleted meanwhile
 * comes back if it is in `left`: the server recognizes its client id.
 */
export const mergeOutboxRows = (committed: OutboxRow | undefined, left: OutboxRow | undefined) =>
  committed && left ? (committed.at > left.at ? committed : left) : left;

export const mergeReads = (committed: ReadRow | undefined, left: ReadRow | undefined): ReadRow | undefined =>
  committed && left ? (committed.head > left.head ? committed : left) : (committed ?? left);
