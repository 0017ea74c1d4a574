import { useT } from "../i18n/setup";
import { Avatar, type AvatarPerson } from "./avatar";
import { BlockedMark } from "./blocked-mark";
import { GroupMark } from "./group-mark";

/** A person, or a group with so many members. */
export type LinePerson = AvatarPerson & { blocked?: 0 | 1; members?: number };

/** Picture, name and number of a person on one line of a list. Names may be of any script and direction. */
export function PersonLine({ person, note }: { person: LinePerson; note?: string }) {
  const t = useT();
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3">
      <Avatar person={person} />
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="flex items-center gap-1.5">
          {person.members !== undefined && <GroupMark />}
          <bdi className="min-w-0 truncate font-semibold">{person.username || t("common.user")}</bdi>
          {person.blocked === 1 && <BlockedMark />}
        </span>
        {person.phone !== "" && (
          <bdi dir="ltr" className="max-w-full self-start truncate text-sm text-muted tabular-nums">
            {person.phone}
          </bdi>
        )}
        {person.members !== undefined && (
          <span className="truncate text-sm text-muted">{t("groups.chat.members", { count: person.members })}</span>
        )}
        {note && <span className="truncate text-sm text-muted">{note}</span>}
      </span>
    </span>
  );
}
