import type { EventBody } from "#contract/conversations.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolate } from "#lib/text/bidi.ts";
import { listMembers, type MemberNames, nameOfMember } from "./member-names.ts";

/** What happened in a group, as one sentence for this reader. `sender` did it. */
export const describeEvent = (
  { event, who = [], name = "" }: EventBody,
  sender: number | undefined,
  names: MemberNames,
  t: Translate,
): string => {
  const values = {
    name: isolate(nameOfMember(names, sender, t)),
    who: listMembers(names, who, t),
    group: isolate(name),
  };
  if (sender === names.own) return t(`groups.events.${event}ByMe`, values);
  const isToMe = who.length === 1 && who[0] === names.own;
  return isToMe && (event === "added" || event === "owner")
    ? t(`groups.events.${event}Me`, values)
    : t(`groups.events.${event}`, values);
};
