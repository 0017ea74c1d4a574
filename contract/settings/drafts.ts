import * as v from "valibot";
import { ConversationId } from "#contract/ids.ts";
import { ReplyPlace } from "#contract/messages/body.ts";
import { Watermark } from "#contract/messages/positions.ts";

/**
 * Draft of a conversation that a person's devices share (docs/decisions/draft-sync.md). `change`: number of its last
 * change. `base`: newest change that its writer had seen. `at`: when it was written, by the clock of the server. An
 * empty text stands for a draft that was sent or emptied.
 */
export const SyncedDraft = v.object({
  conversation: ConversationId,
  change: Watermark,
  base: Watermark,
  at: v.number(),
  text: v.string(),
  reply: v.optional(ReplyPlace),
});
export type SyncedDraft = v.InferOutput<typeof SyncedDraft>;

/** Drafts changed after the requested change, emptied ones included. `head`: number of the last change of any draft. */
export const DraftList = v.object({ head: Watermark, drafts: v.array(SyncedDraft) });
export type DraftList = v.InferOutput<typeof DraftList>;

/** Fields that decide between two drafts of a conversation. `writer` identifies the device. */
type DraftVersion = Omit<SyncedDraft, "conversation"> & { writer: string };

/**
 * The draft that replaces the stored one, or undefined if the stored one stays. Of two texts that do not know each
 * other the one written later wins. An emptied draft ends only a text that its device has seen: what another device has
 * typed since is not deleted. What a device does with its own text: src/sync/unsent/draft-row.ts.
 */
export const chooseDraft = (
  stored: DraftVersion | undefined,
  written: Omit<DraftVersion, "change">,
): Omit<DraftVersion, "change"> | undefined => {
  if (!stored) return written.text === "" ? undefined : written;
  const isOwn = stored.writer === written.writer;
  const hasSeen = isOwn || written.base >= stored.change;
  if (!hasSeen && written.text === "") return undefined;
  if (!hasSeen && stored.text !== "" && written.at < stored.at) return undefined;
  // A device that continues its own draft has not thereby seen what the draft had replaced unseen.
  const base = isOwn ? Math.max(stored.base, written.base < stored.change ? written.base : 0) : written.base;
  return { ...written, base };
};

/** Whether both drafts have the same content. */
export const isSameDraft = (
  a: Pick<SyncedDraft, "text" | "reply"> | undefined,
  b: Pick<SyncedDraft, "text" | "reply"> | undefined,
): boolean => (a?.text ?? "") === (b?.text ?? "") && ((a?.text ?? "") === "" || a?.reply === b?.reply);
