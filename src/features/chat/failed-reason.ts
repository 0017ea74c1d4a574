import type { ErrorCode } from "../../../contract/errors";
import type { Translate } from "../../i18n/setup";
import type { ChatItem } from "../../sync/hooks";

/** How one stands to a chat: one of two, a member of its group, or none any more, from whom nothing is ever sent there. */
export type Standing = "private" | "member" | "left";

/** Why a message did not go. What a group refused to whom it had removed stays refused when they are members again. */
export const failedReason = (error: ErrorCode | undefined, standing: Standing, t: Translate): string => {
  if (error === "conversation_not_found" && standing !== "private") {
    return t(standing === "left" ? "groups.chat.notMember" : "groups.chat.wasNotMember");
  }
  return t(`errors.${error ?? "internal"}`);
};

/** What is never sent is on no way that could be shown, paused or gone on with. */
export const withoutUpload = ({ upload: _, ...item }: ChatItem): ChatItem => item;
