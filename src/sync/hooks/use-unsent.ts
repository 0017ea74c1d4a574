import { useMemo, useSyncExternalStore } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { type KeptText, parseKeptTexts, readKeptTexts, subscribeToKeptTexts } from "#sync/drafts/kept-texts.ts";
import { readUnsentSummary, type UnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { textDraftQuery, voiceDraftsQuery } from "#sync/queries/screen-queries.ts";
import type { ReplyTarget } from "#sync/store/database.ts";
import { readUnsentContent } from "#sync/store/pending/draft-rows.ts";
import type { UnsentContent } from "#sync/store/view-models.ts";
import { emptySource, useEngine, useLiveQuery } from "./use-live-query.ts";

export type { UnsentContent } from "#sync/store/view-models.ts";

/** Text draft of a conversation, typed in any tab; empty if there is none. */
export const useTextDraft = (id: ConversationId): string | undefined => useLiveQuery(...textDraftQuery(id));

/** Message that the draft of a conversation answers, chosen in any tab. */
export const useReplyDraft = (conversation: ConversationId): ReplyTarget | undefined => {
  const replies = useEngine()?.drafts.replies;
  return useSyncExternalStore(
    replies?.subscribe ?? emptySource.subscribe,
    () => replies?.find(conversation),
    () => undefined,
  );
};

/** Texts of a conversation that are neither sent nor in the message field. */
export const useKeptTexts = (conversation: ConversationId): readonly KeptText[] => {
  const client = useEngine()?.client;
  const stored = useSyncExternalStore(
    subscribeToKeptTexts,
    () => client && readKeptTexts(client, conversation),
    () => undefined,
  );
  return useMemo(() => parseKeptTexts(stored), [stored]);
};

/** Files and recording of a conversation that were not sent, from any tab. */
export const useUnsentContent = (id: ConversationId): UnsentContent | undefined =>
  useLiveQuery(`left over ${id}`, ({ store }) => readUnsentContent(store, id));

/** Whether a conversation has an unsent voice recording from any tab. All rows of a list share one query. */
export const useHasVoiceDraft = (id: ConversationId): boolean =>
  useLiveQuery(...voiceDraftsQuery)?.includes(id) ?? false;

/** Unsent data that would be lost with the session, by a sign-out, or with the account. */
export const useUnsentSummary = (ending: "session" | "account" = "session"): UnsentSummary | undefined =>
  useLiveQuery(`unsent ${ending}`, (context) => readUnsentSummary(context, ending));
