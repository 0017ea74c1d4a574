import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import type { toErrorCode } from "#lib/http/http-request.ts";

type PendingContentProps = {
  /** Query whose content cannot be shown: usually it is running, or it failed. */
  query: { state: "loading" | "missing" | "found" } | { state: "failed"; code: ReturnType<typeof toErrorCode> };
  retry: () => void;
};

/** In place of content that is being loaded, or that could not be. */
export function PendingContent({ query, retry }: PendingContentProps) {
  const { t } = useTranslation();
  if (query.state === "loading")
    return (
      <div className="grid min-h-40 place-items-center">
        <Spinner label={t("common.loading")} className="text-3xl text-accent" />
      </div>
    );
  return (
    <div role="status" className="flex flex-col items-center gap-3 p-4 text-center">
      <p>{t(`errors.${query.state === "failed" ? query.code : "not_found"}`)}</p>
      <Button variant="secondary" onClick={retry}>
        {t("common.retry")}
      </Button>
    </div>
  );
}
