import * as v from "valibot";
import { ConversationId } from "#contract/ids.ts";
import { toStoreName } from "#sync/store/database.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import type { TextDrafts } from "./text-drafts.ts";

/**
 * Texts typed in a first view before the app had loaded. Its inline script saves them under keys of their own
 * (`src/first-view/early-input.ts`), because it does not know the stored draft, which must not be overwritten.
 */
const toEarlyPrefix = ({ userId }: Tab): string => `${toStoreName(userId)}-early-`;

/** Appends an early text to a draft, unless the draft contains it already. */
export const joinDrafts = (draft: string, early: string): string =>
  draft === "" || early.startsWith(draft) ? early : `${draft}\n${early}`;

export const clearEarlyDraft = (tab: Tab, conversation: ConversationId): void =>
  tab.platform.localStorage?.removeItem(toEarlyPrefix(tab) + conversation);

/** Moves early texts of former pages into the drafts, except that of the conversation on screen. */
export const recoverEarlyDrafts = async (tab: Tab, drafts: TextDrafts, onScreen: string | undefined): Promise<void> => {
  const { localStorage } = tab.platform;
  const prefix = toEarlyPrefix(tab);
  const keys = Array.from({ length: localStorage?.length ?? 0 }, (_, index) => localStorage?.key(index) ?? "");
  for (const key of keys) {
    const conversation = key.slice(prefix.length);
    if (!key.startsWith(prefix) || conversation === onScreen || !v.is(ConversationId, conversation)) continue;
    drafts.save(conversation, joinDrafts(await drafts.read(conversation), localStorage?.getItem(key) ?? ""));
    drafts.flushToJournal();
    clearEarlyDraft(tab, conversation);
  }
};
