import { useTranslation } from "react-i18next";
import { Avatar } from "./avatar.tsx";
import type { AvatarPerson } from "./avatar-text.ts";
import { BlockedBadge, GroupBadge } from "./name-badges.tsx";
import { PhoneNumber } from "./phone-number.tsx";

/** Person, or a group with its member count. */
export type ListedPerson = AvatarPerson & { blocked?: 0 | 1; members?: number };

/**
 * List item with avatar, name and number of a person. Names may be of any script and direction. With `wraps`, each text
 * may take a second line instead of being truncated.
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
  const overflow = wraps ? "line-clamp-2 break-words" : "truncate";
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3">
      <Avatar person={person} />
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="flex items-center gap-1.5">
          {person.members !== undefined && <GroupBadge />}
          <bdi className={`min-w-0 font-semibold ${overflow}`}>{person.username || t("common.user")}</bdi>
          {person.blocked === 1 && <BlockedBadge />}
        </span>
        {person.phone !== "" && (
          <PhoneNumber
            phone={person.phone}
            className={`max-w-full self-start text-sm text-muted tabular-nums ${overflow}`}
          />
        )}
        {person.members !== undefined && (
          <span className="truncate text-sm text-muted">{t("groups.chat.members", { count: person.members })}</span>
        )}
        {note && <span className={`text-sm text-muted ${overflow}`}>{note}</span>}
      </span>
    </span>
  );
}
