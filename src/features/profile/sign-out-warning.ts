import { isInCall } from "#calls/actions.ts";
import type { Language } from "#contract/language.ts";
import { formatList } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { findUnsent } from "#sync/engine.ts";
import type { Unsent } from "#sync/unsent-summary.ts";

/** What leaving would cost: what only exists here, and a call. */
export type Stake = { isUnsent: boolean; isInCall: boolean };

/** A store that cannot be read must not keep anybody from leaving. */
export const findStake = async (): Promise<Stake> => {
  const nothing: Unsent = { messages: 0, posts: 0, drafts: 0, deletions: 0 };
  const { messages, posts, drafts, deletions } = await findUnsent().catch(() => nothing);
  return { isUnsent: messages + posts + drafts + deletions > 0, isInCall: await isInCall() };
};

/** What would be lost, in words; undefined when nothing would. */
export const wordsOfLost = (
  { messages, posts, drafts, deletions }: Unsent,
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
