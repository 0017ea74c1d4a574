import type { Body } from "../../../contract/conversations";
import type { ConversationId } from "../../../contract/ids";
import type { ChatItem } from "../../sync/hooks";

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
