import * as v from "valibot";
import { ConversationId, type Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { toStoreName } from "#sync/store/database.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import type { TextDrafts } from "./text-drafts.ts";

/**
 * Texts typed in a first view before the app had loaded. Its inline script saves them under keys of their own
 * (`src/first-view/early-input.ts`), because it does not know the stored draft, which must not be overwritten.
 */
const toEarlyPrefix = (me: Uuid): string => `${toStoreName(me)}-early-`;

type EarlyDraftScope = { platform: Pick<Platform, "localStorage">; me: Uuid };

/** Early texts by conversation. */
export const listEarlyDrafts = ({ platform: { localStorage }, me }: EarlyDraftScope): [ConversationId, string][] => {
  const prefix = toEarlyPrefix(me);
  return Array.from({ length: localStorage?.length ?? 0 }, (_, index) => localStorage?.key(index) ?? "").flatMap(
    (key) => {
      const conversation = key.slice(prefix.length);
      if (!key.startsWith(prefix) || !v.is(ConversationId, conversation)) return [];
      return [[conversation, localStorage?.getItem(key) ?? ""] as [ConversationId, string]];
    },
  );
};

/** Appends an early text to a draft, unless the draft contains it already. */
export const joinDrafts = (draft: string, early: string): string =>
  draft === "" || early.startsWith(draft) ? early : `${draft}\n${early}`;

export const clearEarlyDraft = ({ platform, userId }: Tab, conversation: ConversationId): void =>
  platform.localStorage?.removeItem(toEarlyPrefix(userId) + conversation);

/** Moves early texts of former pages into the drafts, except that of the conversation on screen. */
export const recoverEarlyDrafts = async (tab: Tab, drafts: TextDrafts, onScreen: string | undefined): Promise<void> => {
  for (const [conversation, text] of listEarlyDrafts({ platform: tab.platform, me: tab.userId })) {
    if (conversation === onScreen) continue;
    drafts.save(conversation, joinDrafts(await drafts.read(conversation), text));
    drafts.flushToJournal();
    clearEarlyDraft(tab, conversation);
  }
};
