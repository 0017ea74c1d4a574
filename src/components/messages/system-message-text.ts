import type { EventBody } from "#contract/messages/body.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { formatMemberList, getMemberName, type MemberNames } from "./member-names.ts";

/** System message of a private chat: only a pinned message has one. */
export const describePrivateEvent = (isMine: boolean, peerName: string, t: Translate): string =>
  isMine ? t("groups.events.pinnedByMe") : t("groups.events.pinned", { name: isolateBidi(peerName) });

/** System message of a group as a sentence for this user. `sender` is the member who acted. */
export const describeSystemMessage = (
  { event, who = [], name = "" }: EventBody,
  sender: number | undefined,
  names: MemberNames,
  t: Translate,
): string => {
  const values = {
    name: isolateBidi(getMemberName(names, sender, t)),
    who: formatMemberList(names, who, t),
    group: isolateBidi(name),
  };
  if (sender === names.ownNumber) return t(`groups.events.${event}ByMe`, values);
  const isToMe = who.length === 1 && who[0] === names.ownNumber;
  return isToMe && (event === "added" || event === "removed" || event === "owner")
    ? t(`groups.events.${event}Me`, values)
    : t(`groups.events.${event}`, values);
};
