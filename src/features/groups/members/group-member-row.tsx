import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { MenuButton, type MenuItem } from "#components/overlays/menu.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import type { GroupMemberView } from "./member-view.ts";

type GroupMemberRowProps = { member: GroupMemberView; items: MenuItem[] };

const rowClass = "flex min-h-16 min-w-0 flex-1 items-center gap-3 py-2 pl-4 -outline-offset-3";

/** Row of a member, linked to their profile. `items` are the actions the current user may perform on them. */
export function GroupMemberRow({ member, items }: GroupMemberRowProps) {
  const { t } = useTranslation();
  const isDeleted = member.user === "";
  const name = isDeleted ? t("common.deletedAccount") : member.username || t("common.user");
  const className = `${rowClass} ${items.length > 0 ? "pr-1" : "pr-4"}`;
  const content = (
    <>
      <Avatar person={isDeleted ? { ...member, deleted: 1 } : member} />
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="flex min-w-0 flex-wrap gap-x-1">
          <bdi className="max-w-full truncate font-semibold">{name}</bdi>
          {member.isMe && <span className="shrink-0 text-muted">({t("common.you")})</span>}
        </span>
        <span className="flex flex-wrap items-center gap-x-3 text-sm">
          {member.phone !== "" && (
            <PhoneNumber phone={member.phone} className="min-w-0 truncate text-muted tabular-nums" />
          )}
          {member.role === "owner" && (
            <span className="rounded-full bg-accent-soft px-2 font-medium text-accent">{t("groups.owner")}</span>
          )}
        </span>
      </span>
    </>
  );
  return (
    <div className="flex items-center border-t border-line bg-surface has-[a:hover]:bg-raised">
      {isDeleted ? (
        <div className={className}>{content}</div>
      ) : (
        <Link to={member.isMe ? "/app/profile" : `/app/user/${member.user}`} className={className}>
          {content}
        </Link>
      )}
      {items.length > 0 && <MenuButton label={t("groups.page.memberMenu", { name })} items={items} className="mr-1" />}
    </div>
  );
}
