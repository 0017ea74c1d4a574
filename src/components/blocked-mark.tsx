import { useT } from "../i18n/setup";

/** Stands beside the name of somebody I have blocked. */
export function BlockedMark() {
  const t = useT();
  const label = t("blocked.isBlocked");
  return (
    <span role="img" aria-label={label} title={label} className="i-ph-prohibit-bold shrink-0 text-base text-danger" />
  );
}
