import { type ComponentType, createContext } from "react";
import type { ConversationId } from "#contract/ids.ts";
import type { Mention } from "#contract/messages/mentions.ts";

/** Context of mentions in the texts of a group: the group, the member number of this user, and the component. */
type MentionContextValue = {
  conversation: ConversationId;
  ownNumber: number | undefined;
  Text: ComponentType<{ text: string; mentions: readonly Mention[] }>;
};

/** Undefined in a private chat, which has no mentions. */
export const MentionContext = createContext<MentionContextValue | undefined>(undefined);
