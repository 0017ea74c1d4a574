import { readUnsentSummary, type UnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import { useLiveQuery } from "./use-live-query.ts";

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
