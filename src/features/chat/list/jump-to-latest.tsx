import { useTranslation } from "react-i18next";

/** Button that scrolls to the newest message, with the number of messages that arrived meanwhile. */
export function JumpToLatestButton({ count, onClick }: { count: number; onClick: () => void }) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      aria-label={count === 0 ? t("chat.toLatest") : undefined}
      className={`absolute bottom-3 z-1 inline-flex min-h-12 min-w-12 items-center justify-center gap-2 rounded-full border border-line shadow-md ${
        count > 0
          ? "left-1/2 [transform:translateX(-50%)] bg-accent px-5 font-semibold whitespace-nowrap text-on-accent"
          : "right-3 bg-surface text-[20px] text-text"
      }`}
      onClick={onClick}
    >
      {count > 0 && t("chat.newMessages", { count })}
      <span className="i-ph-arrow-down-bold" aria-hidden="true" />
    </button>
  );
}
