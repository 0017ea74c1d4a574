import { useTranslation } from "react-i18next";
import { Avatar } from "./avatar.tsx";
import type { AvatarPerson } from "./avatar-text.ts";
import { BlockedBadge, GroupBadge } from "./name-badges.tsx";
import { PhoneNumber } from "./phone-number.tsx";

/** Person, or a group with its member count. */
export type ListedPerson = AvatarPerson & { blocked?: 0 | 1; members?: number };

/**
 * List item with avatar, name and number of a person. Names may be of any script and direction. With `wraps`, name and
 * number may take a second line instead of being truncated.
 */
export function PersonListItem({
  person,
  note,
  wraps = false,
}: {
  person: ListedPerson;
  note?: string;
  wraps?: boolean;
}) {
  const { t } = useTranslation();
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3">
      <Avatar person={person} />
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="flex items-center gap-1.5">
          {person.members !== undefined && <GroupBadge />}
          <bdi className={`min-w-0 font-semibold ${wraps ? "line-clamp-2 break-words" : "truncate"}`}>
            {person.username || t("common.user")}
          </bdi>
          {person.blocked === 1 && <BlockedBadge />}
        </span>
        {person.phone !== "" && (
          <PhoneNumber
            phone={person.phone}
            className={`max-w-full self-start text-sm text-muted tabular-nums ${wraps ? "break-words" : "truncate"}`}
          />
        )}
        {person.members !== undefined && (
          <span className="truncate text-sm text-muted">{t("groups.chat.members", { count: person.members })}</span>
        )}
        {note && <span className="truncate text-sm text-muted">{note}</span>}
      </span>
    </span>
  );
}
