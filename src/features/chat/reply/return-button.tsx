import { useTranslation } from "react-i18next";

/** Button that returns from a quoted message to the reply. */
export default function ReturnButton({ onClick }: { onClick: () => void }) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      className="absolute bottom-3 left-3 z-1 inline-flex min-h-12 max-w-[calc(100%-5.5rem)] items-center gap-2 rounded-full border border-line bg-surface px-4 text-sm font-semibold text-text shadow-md"
      onClick={onClick}
    >
      <span className="i-ph-arrow-u-down-left shrink-0 text-[20px]" aria-hidden="true" />
      <span className="min-w-0 truncate">{t("chat.returnToReply")}</span>
    </button>
  );
}
