import type { Body } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";

/** What each kind of attachment is given to show itself in a bubble. */
export type AttachmentProps<Kind extends Body["type"]> = {
  conversation: ConversationId;
  item: ChatItem;
  body: Extract<Body, { type: Kind }>;
  /** What it is, by whom and when, for a screen reader. */
  description: string;
  /** A picture was tapped. */
  onOpen: () => void;
};
