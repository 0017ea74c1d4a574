import { useTranslation } from "react-i18next";
import { Spinner } from "#components/controls/spinner.tsx";

/** Spinner of a loading screen. It fades in with a delay to avoid flicker. */
export function PaneSpinner() {
  const { t } = useTranslation();
  return (
    <div className="grid min-h-0 flex-1 place-items-center bg-bg">
      <span className="late text-accent">
        <Spinner label={t("common.loading")} className="text-4xl" />
      </span>
    </div>
  );
}
