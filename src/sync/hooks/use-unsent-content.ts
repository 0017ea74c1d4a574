import { useMemo } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import { readUnsentSummary, type UnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import type { UnsentContent } from "#sync/store/view-models.ts";
import { useLiveQuery } from "./use-live-query.ts";
import { useUnsentState } from "./use-unsent.ts";

export type { UnsentContent } from "#sync/store/view-models.ts";

/** Files and recording of a conversation that were not sent, from any tab. */
export const useUnsentContent = (id: ConversationId): UnsentContent | undefined => {
  const state = useUnsentState();
  return useMemo(() => state && listUnsentContent(state, id), [state, id]);
};

/** Unsent data that would be lost with the session, by a sign-out, or with the account. */
export const useUnsentSummary = (ending: "session" | "account" = "session"): UnsentSummary | undefined =>
  useLiveQuery(`unsent ${ending}`, (context) => readUnsentSummary(context, ending));

/** Unsent data that a sign-out would delete, including text typed just now. */
export const getUnsentSummary = async (): Promise<UnsentSummary> => {
  const { client, drafts } = currentEngine.get() ?? {};
  await drafts?.flush();
  const context = client?.context.get();
  return context ? readUnsentSummary(context) : { messages: 0, posts: 0, drafts: 0, deletions: 0, edits: 0 };
};
