import { useTranslation } from "react-i18next";

/** Stands beside the name of somebody I have blocked. */
export function BlockedBadge() {
  const { t } = useTranslation();
  const label = t("blocked.isBlocked");
  return (
    <span role="img" aria-label={label} title={label} className="i-ph-prohibit-bold shrink-0 text-base text-danger" />
  );
}
