import { createContext } from "react";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

/** Replying in the open chat. */
export type ReplyActions = {
  people: ChatPeople;
  /** Makes the draft a reply to a message; undefined where the user cannot write. */
  startReply: ((item: ChatItem) => void) | undefined;
  /** Scrolls to the message `seq`, which `item` answers. */
  showQuoted: (seq: number, item: ChatItem) => void;
};

/** Reply actions of the open chat. */
export const ReplyActionsContext = createContext<ReplyActions | undefined>(undefined);
