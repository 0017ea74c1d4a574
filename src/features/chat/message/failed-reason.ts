import type { ErrorCode } from "#contract/errors.ts";
import type { Translate } from "#i18n/setup.ts";

/** Relation of this user to a chat: a private chat, one whose peer deleted the account, or a group they are in or have left. */
export type ChatParticipation = "private" | "peerDeleted" | "member" | "left";

/** Whether nothing can ever be sent in this chat again. */
export const isClosedForSending = (participation: ChatParticipation): boolean =>
  participation === "peerDeleted" || participation === "left";

/**
 * Reason why a message was not sent. A message rejected after a removal from the group stays rejected when the user is a
 * member again. A deleted peer account takes precedence over any earlier error.
 */
export const describeSendFailure = (
  error: ErrorCode | undefined,
  participation: ChatParticipation,
  t: Translate,
): string => {
  if (participation === "peerDeleted") return t("errors.account_deleted");
  if (error === "conversation_not_found" && participation !== "private") {
    return t(participation === "left" ? "groups.chat.notMember" : "groups.chat.wasNotMember");
  }
  return t(`errors.${error ?? "internal"}`);
};
