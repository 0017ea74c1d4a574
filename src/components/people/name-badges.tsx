import { useTranslation } from "react-i18next";

/** Badge next to the name of a blocked person. */
export function BlockedBadge() {
  const { t } = useTranslation();
  const label = t("blocked.isBlocked");
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className="i-ph-prohibit-bold shrink-0 self-center text-base text-danger"
    />
  );
}

/** Badge that marks a name as a group. */
export function GroupBadge() {
  return (
    <span
      role="img"
      aria-label={useTranslation().t("groups.chat.isGroup")}
      className="i-ph-users-three-fill shrink-0 self-center text-base text-muted"
    />
  );
}
