import type { ConversationId } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

/** Conversations with new messages behind the call screen, newest first. */
export const messagesDuringCall = new Observable<readonly ConversationId[]>([]);

export const addMessagesDuringCall = (conversations: readonly ConversationId[]): void =>
  messagesDuringCall.set([...new Set([...conversations, ...messagesDuringCall.get()])]);

/** Clears the list once the call screen is closed. */
export const clearMessagesDuringCall = (): void => messagesDuringCall.set([]);
