import { isBrowserInCall } from "#calls/actions.ts";
import type { Language } from "#contract/language.ts";
import { formatList } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { getUnsentSummary } from "#sync/engine.ts";
import type { UnsentSummary } from "#sync/unsent-summary.ts";

/** What leaving would cost: what only exists here, and a call. */
export type SignOutLosses = { hasUnsent: boolean; isInCall: boolean };

/** A store that cannot be read must not keep anybody from leaving. */
export const checkSignOutLosses = async (): Promise<SignOutLosses> => {
  const nothing: UnsentSummary = { messages: 0, posts: 0, drafts: 0, deletions: 0 };
  const { messages, posts, drafts, deletions } = await getUnsentSummary().catch(() => nothing);
  return { hasUnsent: messages + posts + drafts + deletions > 0, isInCall: await isBrowserInCall() };
};

/** What would be lost, in words; undefined when nothing would. */
export const formatUnsentContent = (
  { messages, posts, drafts, deletions }: UnsentSummary,
  t: Translate,
  language: Language,
): string | undefined => {
  const lost = [
    ...(messages > 0 ? [t("profile.unsentMessages", { count: messages })] : []),
    ...(posts > 0 ? [t("profile.unsentPosts", { count: posts })] : []),
    ...(drafts > 0 ? [t("profile.unsentDrafts", { count: drafts })] : []),
    ...(deletions > 0 ? [t("profile.unsentDeletions", { count: deletions })] : []),
  ];
  return lost.length > 0 ? formatList(lost, language) : undefined;
};
