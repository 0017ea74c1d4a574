import type { ConversationId, Uuid } from "../../contract/ids";
import type { PersonRow } from "./store";
import type { ChatView, ConversationListItem, ConversationView, LinkState, StorageTrouble } from "./views";

export type { ChatItem, ChatView, ConversationListItem, ConversationView, LinkState, ShownStatus } from "./views";

// Every hook reads the local store only and answers undefined while its first read is under way.

/** The list, newest first; at most `limit`, so fewer than that means there are no more. */
export const useConversations = (_limit = 100): ConversationListItem[] | undefined => undefined;
export const useConversation = (_id: ConversationId | undefined): ConversationView | undefined => undefined;
/** Somebody known to this device; null for a person it has nothing of. */
export const usePerson = (_id: Uuid | undefined): PersonRow | null | undefined => undefined;
export const useContacts = (): PersonRow[] | undefined => undefined;
export const useRequests = (): { received: PersonRow[]; sent: PersonRow[] } | undefined => undefined;
export const useChat = (_id: ConversationId | undefined): ChatView | undefined => undefined;
export const useLink = (): LinkState => "connecting";
export const useStorageTrouble = (): StorageTrouble | undefined => undefined;
export const useMe = (): PersonRow | null | undefined => undefined;
