import { useTranslation } from "react-i18next";
import { useShownLink } from "#sync/hooks/use-connection.ts";
import { useStorageTrouble } from "#sync/hooks/use-live-query.ts";

/** One-line banner shown while the network or the device's storage is unreliable. It takes no space otherwise. */
export function ConnectionBanner() {
  const { t } = useTranslation();
  const link = useShownLink();
  const storageTrouble = useStorageTrouble();
  const line = storageTrouble
    ? { icon: "i-ph-warning", text: t(`shell.storage.${storageTrouble}`), look: "bg-danger-soft text-danger" }
    : link === "offline"
      ? { icon: "i-ph-cloud-slash", text: t("shell.link.offline"), look: "bg-raised text-text" }
      : link === "connecting"
        ? { icon: "i-ph-arrows-clockwise", text: t("shell.link.connecting"), look: "bg-raised text-text" }
        : undefined;
  return (
    <div role="status" className="shrink-0">
      {line && (
        <p
          key={line.icon}
          className={`flex min-h-8 items-center justify-center gap-2 px-4 py-1 text-center text-sm ${line.look}`}
        >
          <span className={`${line.icon} shrink-0 text-base`} aria-hidden="true" />
          {line.text}
        </p>
      )}
    </div>
  );
}
