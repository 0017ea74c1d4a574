import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { reactionKindsMax } from "#contract/limits/messages.ts";
import { parseReactions, withOwnReaction } from "#contract/wire/reactions.ts";
import type { Translate } from "#i18n/setup.ts";
import { setReaction } from "#sync/actions/message-actions.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";

/** Summary of a message's reactions, with the own one that is not sent yet. */
export const toShownSummary = ({ reactions = "", ownReaction }: Pick<ChatItem, "reactions" | "ownReaction">): string =>
  ownReaction === undefined ? reactions : withOwnReaction(reactions, ownReaction);

/** This person's reaction to a message. */
export const findOwnReaction = (item: ChatItem): string | undefined =>
  parseReactions(toShownSummary(item)).find(({ isOwn }) => isOwn)?.emoji;

/** Reacts to a message, or removes the same reaction. A toast says why this is not possible. */
export const toggleReaction = async (
  conversation: ConversationId,
  item: ChatItem,
  emoji: string,
  t: Translate,
): Promise<void> => {
  const showError = (message: string) => showToast({ tone: "danger", title: t("common.error"), message });
  const kinds = parseReactions(toShownSummary(item));
  const isOwn = findOwnReaction(item) === emoji;
  if (!isOwn && kinds.length >= reactionKindsMax && !kinds.some((kind) => kind.emoji === emoji))
    return showError(t("errors.too_many_reactions"));
  await setReaction(conversation, item, isOwn ? null : emoji).catch((error: unknown) =>
    showError(t(`errors.${asSyncError(error).code}`)),
  );
};
