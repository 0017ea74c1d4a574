import { isMutedAt } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { pinnedConversationsMax } from "#contract/limits/conversations.ts";
import { countsAsUnread } from "#contract/messages/message.ts";
import { applyFlagChange, isSameFlags } from "#contract/settings/conversation-flags.ts";
import { chooseDraft, isSameDraft, type SyncedDraft } from "#contract/settings/drafts.ts";
import type { ChangeNumber, CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import type { LogMember, LogMessage } from "./model-log.ts";

type Port = {
  /** Members that this person is in all conversations. */
  memberships: readonly LogMember[];
  epoch: string;
  /** Pushes the row and returns the number of that change. */
  pushRow(): ChangeNumber;
  lastChange: ChangeNumber;
};

/** Changes flags of a conversation of the model as the server does. */
export const setModelFlags = (
  me: LogMember,
  { known, marked, archived, pinned }: CommandOf<"setConversationFlags">,
  { memberships, epoch, pushRow, lastChange }: Port,
) => {
  const isOutdated = (change: number) => known?.epoch === epoch && known.counter < change;
  const pins = memberships.flatMap(({ flags }) => flags.pinnedAt ?? []);
  const flags = applyFlagChange(
    me.flags,
    {
      marked: marked && isOutdated(me.lastReadChange) ? undefined : marked,
      archived: archived && isOutdated(me.lastArrivalChange) ? undefined : archived,
      pinned,
    },
    Math.max(Date.now(), ...pins.map((at) => at + 1)),
  );
  if (isSameFlags(flags, me.flags)) return { ...flags, change: lastChange };
  if (flags.pinnedAt !== null && me.flags.pinnedAt === null && pins.length >= pinnedConversationsMax)
    return { error: "too_many_pinned" } satisfies Refusal;
  const wasMarked = me.flags.marked;
  me.flags = flags;
  const change = pushRow();
  if (wasMarked && !flags.marked) me.lastReadChange = change.counter;
  return { ...flags, change };
};

/** Ends the mark as unread of a member who has read more. */
export const endModelMark = (me: LogMember, pushRow: () => ChangeNumber): void => {
  const wasMarked = me.flags.marked;
  me.flags = { ...me.flags, marked: false };
  if (wasMarked) pushRow();
};

/** Ends the archiving of a member to whom a message arrived. */
export const endModelArchive = (
  me: LogMember,
  { body, undelivered }: LogMessage,
  change: ChangeNumber,
  pushRow: () => ChangeNumber,
): void => {
  if (isMutedAt(me, Date.now()) || undelivered || !countsAsUnread({ body, cid: undefined })) return;
  me.lastArrivalChange = change.counter;
  if (!me.flags.archived) return;
  me.flags = { ...me.flags, archived: false };
  me.lastArrivalChange = pushRow().counter;
};

/** Draft of the model with the device that wrote it. */
export type ModelDraft = Omit<SyncedDraft, "conversation"> & { writer: string };

/** Stores a draft of the model as the server does. `push` returns the number of the change. */
export const setModelDraft = (
  drafts: Map<ConversationId, ModelDraft>,
  { conversation, base, ago, text, reply }: CommandOf<"setDraft">,
  writer: string,
  push: (draft: Omit<ModelDraft, "change">) => number,
): CommandResults["setDraft"] => {
  const stored = drafts.get(conversation);
  const written = { base, at: Date.now() - ago, writer, text, ...(reply === undefined ? {} : { reply }) };
  if (isSameDraft(stored, written)) return { revision: stored?.change ?? 0 };
  const draft = chooseDraft(stored, written);
  if (!draft) return { revision: 0 };
  const change = push(draft);
  drafts.set(conversation, { ...draft, change });
  return { revision: change };
};
