import { useTranslation } from "react-i18next";
import { DayHeading } from "./day-heading.tsx";

type ListTopProps = {
  hasOlder: boolean;
  isLoading: boolean;
  isWaitingToRetry: boolean;
  height: number;
  /** Time of the oldest message. */
  oldestAt: number | undefined;
};

/** Area above the oldest message: loading state or beginning of the chat, of one height, so that no row moves. */
export function ListTop({ hasOlder, isLoading, isWaitingToRetry, height, oldestAt }: ListTopProps) {
  const { t } = useTranslation();
  return (
    <div
      className="absolute inset-x-0 top-0 flex flex-col items-center justify-end px-4 text-center text-xs text-muted"
      style={{ height }}
    >
      {!hasOlder && (
        <>
          <p>{t("chat.start")}</p>
          {oldestAt !== undefined && <DayHeading at={oldestAt} />}
        </>
      )}
      {hasOlder && isWaitingToRetry && <p className="my-auto">{t("chat.olderOffline")}</p>}
      {hasOlder && !isWaitingToRetry && isLoading && (
        <p className="my-auto flex items-center gap-2">
          <span className="spinner text-base" aria-hidden="true" />
          {t("chat.loadingOlder")}
        </p>
      )}
    </div>
  );
}
