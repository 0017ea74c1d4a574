import type { ConversationId } from "#contract/ids.ts";
import type { SyncedDraft } from "#contract/settings/drafts.ts";
import type { LocalStore, MetaRow } from "#sync/store/database.ts";
import { toTextDraftKey } from "./draft-keys.ts";

// Rows of `meta` for drafts that the devices of a person share (docs/decisions/draft-sync.md).

/** Number of the last change of any draft that the server announced. */
export const draftHeadKey = "draft-head";
/** Number of the last change of any draft that this device has applied. */
export const draftCursorKey = "draft-cursor";
export const pushedDraftPrefix = "draft-push:";
const draftEditPrefix = "draft-edit:";

/** Pause in typing after which a draft is sent, and after which one of another device may replace it. */
export const typingPauseMs = 3_000;

/** Draft announced by another device's change; without content if this device wrote it. `before`: the head before. */
export type PushedDraft = { before: number; change: number; draft?: SyncedDraft };

/**
 * Draft that the person changed on this device at the time `at` and that the other devices do not have. `isFinal`:
 * nobody types in it any more.
 */
export type DraftEdit = { at: number; isFinal?: boolean };
/** Draft of a conversation as the server is known to have it. */
export type DraftState = Pick<SyncedDraft, "change" | "text" | "reply"> & {
  /** This device wrote it. */
  isOwn: boolean;
  /** Text that this device sent and the server has not confirmed. */
  sent?: string;
  /**
   * Of an own draft whose request may have been delayed: the newest change that this device had seen before it, and
   * when it was written, by the clock of the server.
   */
  written?: { base: number; at: number };
  /** A later draft of another device was not applied, because somebody was typing here. */
  isBehind?: boolean;
};

export const toDraftStateKey = (conversation: ConversationId): string => `draft-state:${conversation}`;
export const toDraftEditKey = (conversation: ConversationId): string => draftEditPrefix + conversation;

/** Whether a `meta` key belongs to a draft that the other devices do not have. */
export const isDraftEditKey = (key: string): boolean => key.startsWith(draftEditPrefix);

/** Whether the server is known to have this text as the draft of a conversation. */
export const isDraftShared = async (
  { meta }: LocalStore,
  conversation: ConversationId,
  text: string,
): Promise<boolean> => {
  const [edit, row] = await meta.bulkGet([toDraftEditKey(conversation), toDraftStateKey(conversation)]);
  const state = row?.value as DraftState | undefined;
  return !edit && state?.text === text && !state.isBehind && state.sent === undefined;
};

/** Records that the draft of a conversation changed. Requires a transaction over `meta`. */
export const recordDraftEdit = async (
  { meta }: LocalStore,
  conversation: ConversationId,
  edit: DraftEdit,
): Promise<void> => void (await meta.put({ key: toDraftEditKey(conversation), value: edit }));

/** Marks all edits as final. Resolves to their number. */
export const finishDraftEdits = ({ meta }: LocalStore): Promise<number> =>
  meta
    .where("key")
    .startsWith(draftEditPrefix)
    .modify((row: MetaRow) => {
      row.value = { ...(row.value as DraftEdit), isFinal: true };
    });

/**
 * Deletes a text draft that was sent or whose conversation was deleted. The other devices learn of it if they may have
 * it. Requires a transaction over `meta`.
 */
export const deleteTextDraft = async (store: LocalStore, conversation: ConversationId, at: number): Promise<void> => {
  const { meta } = store;
  await meta.delete(toTextDraftKey(conversation));
  if (await meta.get(toDraftStateKey(conversation))) await recordDraftEdit(store, conversation, { at, isFinal: true });
  else await meta.delete(toDraftEditKey(conversation));
};

/** Work on drafts: to fetch what other devices wrote, or to send an edit. */
export type DraftTask = "fetch" | (DraftEdit & { conversation: ConversationId });

/** Pending tasks, drafts of other devices first. A draft that is being typed in waits. */
export const listDraftTasks = async ({ meta }: LocalStore, now: number): Promise<DraftTask[]> => {
  const [head, cursor] = await meta.bulkGet([draftHeadKey, draftCursorKey]);
  const edits: MetaRow[] = await meta.where("key").startsWith(draftEditPrefix).toArray();
  return [
    ...(head?.value === cursor?.value ? [] : (["fetch"] as const)),
    ...edits.flatMap(({ key, value }) => {
      const { at, isFinal } = value as DraftEdit;
      const conversation = key.slice(draftEditPrefix.length);
      return isFinal || Math.abs(now - at) >= typingPauseMs ? { conversation, at, isFinal: true } : [];
    }),
  ];
};
