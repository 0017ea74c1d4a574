import { isBrowserInCall } from "#calls/call-state.ts";
import type { Language } from "#contract/language.ts";
import { formatList } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import type { UnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { getUnsentSummary } from "#sync/hooks/use-unsent-content.ts";

/** Losses at sign-out: unsent content that exists on this device only, and a running call. */
export type SignOutLosses = { hasUnsent: boolean; isInCall: boolean };

/** Determines the losses at sign-out. An unreadable store counts as empty, so that it cannot prevent a sign-out. */
export const checkSignOutLosses = async (): Promise<SignOutLosses> => {
  const none: UnsentSummary = { messages: 0, posts: 0, drafts: 0, deletions: 0, edits: 0 };
  const { messages, posts, drafts, deletions, edits } = await getUnsentSummary().catch(() => none);
  return { hasUnsent: messages + posts + drafts + deletions + edits > 0, isInCall: await isBrowserInCall() };
};

/** Formats a list of unsent content; undefined if there is none. */
export const formatUnsentContent = (
  { messages, posts, drafts, deletions, edits }: UnsentSummary,
  t: Translate,
  language: Language,
): string | undefined => {
  const parts = [
    ...(messages > 0 ? [t("profile.unsentMessages", { count: messages })] : []),
    ...(posts > 0 ? [t("profile.unsentPosts", { count: posts })] : []),
    ...(drafts > 0 ? [t("profile.unsentDrafts", { count: drafts })] : []),
    ...(deletions > 0 ? [t("profile.unsentDeletions", { count: deletions })] : []),
    ...(edits > 0 ? [t("profile.unsentEdits", { count: edits })] : []),
  ];
  return parts.length > 0 ? formatList(parts, language) : undefined;
};
