import type { Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

/** Says who got an invitation instead of being added, and nothing about the reason; empty if nobody did. */
export const toInvitedTexts = (
  people: readonly { id: Uuid; username: string }[],
  invited: readonly Uuid[],
  t: Translate,
): string[] => {
  if (invited.length === 0) return [];
  if (invited.length > 1) return [t("groups.invited.many", { count: invited.length })];
  const name = people.find(({ id }) => id === invited[0])?.username;
  return [t("groups.invited.one", { name: isolateBidi(name || t("common.user")) })];
};
