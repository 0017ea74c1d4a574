import type { ConversationId } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

/** Conversations that somebody wrote in behind the call's screen, the newest first. */
export const wroteBehind = new Observable<readonly ConversationId[]>([]);

export const noteBehind = (conversations: readonly ConversationId[]): void =>
  wroteBehind.set([...new Set([...conversations, ...wroteBehind.get()])]);

/** The screen is there no more: what is new is seen where it stands. */
export const forgetBehind = (): void => wroteBehind.set([]);
