/** Kind of a chat for this user: private, private with a deleted account, or a group they are in or have left. */
export type ChatParticipation = "private" | "peerDeleted" | "member" | "left";

/** Whether nothing can ever be sent in this chat again. */
export const isClosedForSending = (participation: ChatParticipation): boolean =>
  participation === "peerDeleted" || participation === "left";
