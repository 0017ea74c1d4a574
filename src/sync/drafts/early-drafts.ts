import * as v from "valibot";
import { ConversationId, type Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { toStoreName } from "#sync/store/database.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { TextDrafts } from "./text-drafts.ts";

/**
 * Texts typed in a first view before the app had loaded. Its inline script saves them under keys of their own
 * (`src/first-view/script/composer.ts`), because it does not know the stored draft, which must not be overwritten.
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

/** Early text of a conversation; empty if there is none. */
export const readEarlyDraft = ({ platform, me }: SyncPort, conversation: ConversationId): string =>
  platform.localStorage?.getItem(toEarlyPrefix(me) + conversation) ?? "";

/** Deletes an early text that became a draft, unless a first view in another tab has continued it. */
export const clearEarlyDraft = (port: SyncPort, conversation: ConversationId, text: string): void => {
  if (readEarlyDraft(port, conversation) === text)
    port.platform.localStorage?.removeItem(toEarlyPrefix(port.me) + conversation);
};

/** Moves early texts of former pages into the drafts, except that of the conversation on screen. */
export const recoverEarlyDrafts = async (
  port: SyncPort,
  drafts: TextDrafts,
  onScreen: string | undefined,
): Promise<void> => {
  for (const [conversation] of listEarlyDrafts(port)) {
    if (conversation === onScreen) continue;
    const draft = await drafts.read(conversation);
    const text = readEarlyDraft(port, conversation);
    if (text === "") continue; // sent meanwhile in another tab
    drafts.save(conversation, joinDrafts(draft, text));
    drafts.flushToJournal();
    clearEarlyDraft(port, conversation, text);
  }
};
