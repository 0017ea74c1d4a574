import type { ConversationId } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

/** Conversations that somebody wrote in behind the call's screen, the newest first. */
export const messagesDuringCall = new Observable<readonly ConversationId[]>([]);

export const addMessagesDuringCall = (conversations: readonly ConversationId[]): void =>
  messagesDuringCall.set([...new Set([...conversations, ...messagesDuringCall.get()])]);

/** The screen is there no more: what is new is seen where it stands. */
export const clearMessagesDuringCall = (): void => messagesDuringCall.set([]);
