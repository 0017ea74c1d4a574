import type { ErrorCode } from "#contract/errors.ts";
import type { Translate } from "#i18n/setup.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";

/** How one stands to a chat: one of two, or the one left of them since the other's account is gone; a member of its group, or none any more. */
export type ChatParticipation = "private" | "alone" | "member" | "left";

/** Whether nothing is ever sent there again. */
export const isClosedForSending = (standing: ChatParticipation): boolean => standing === "alone" || standing === "left";

/**
 * Why a message did not go. What a group refused to whom it had removed stays refused when they are members again; an
 * account that is gone is the last word, whatever kept the message from going before.
 */
export const describeSendFailure = (
  error: ErrorCode | undefined,
  standing: ChatParticipation,
  t: Translate,
): string => {
  if (standing === "alone") return t("errors.account_deleted");
  if (error === "conversation_not_found" && standing !== "private") {
    return t(standing === "left" ? "groups.chat.notMember" : "groups.chat.wasNotMember");
  }
  return t(`errors.${error ?? "internal"}`);
};

/** What is never sent is on no way that could be shown, paused or gone on with. */
export const withoutUpload = ({ upload: _, ...item }: ChatItem): ChatItem => item;
