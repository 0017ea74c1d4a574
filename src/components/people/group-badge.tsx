import { useTranslation } from "react-i18next";

/** Badge that marks a name as a group. */
export function GroupBadge() {
  return (
    <span
      role="img"
      aria-label={useTranslation().t("groups.chat.isGroup")}
      className="i-ph-users-three-fill shrink-0 text-base text-muted"
    />
  );
}
