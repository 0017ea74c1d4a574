import { type ReactNode, useId } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "./modal.tsx";

type SheetProps = {
  title: string;
  /** Small print below the title. */
  subtitle?: string;
  /** Keeps the sheet open while an action runs that closing would not cancel. */
  busy?: boolean;
  onClose: () => void;
  children: ReactNode;
};

/** Large dialog: full screen on a phone, a card on a wide screen. */
export function Sheet({ title, subtitle, busy = false, onClose, children }: SheetProps) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <Modal
      labelledBy={`${id}-title`}
      {...(subtitle ? { describedBy: `${id}-subtitle` } : {})}
      className="rise m-0 h-full max-h-none w-full max-w-none overflow-hidden bg-bg p-0 text-text sm:m-auto sm:h-[min(46rem,calc(100dvh-2rem))] sm:w-[30rem] sm:rounded-bubble sm:border sm:border-line sm:shadow-xl"
      onDismiss={() => !busy && onClose()}
    >
      <div className="flex h-full flex-col">
        <header className="flex min-h-[72px] shrink-0 items-center gap-1 px-2 pt-[env(safe-area-inset-top)]">
          <IconButton icon="i-ph-x-bold" label={t("common.close")} disabled={busy} onClick={onClose} />
          <div className="min-w-0 flex-1 py-4 pr-2">
            <h2 id={`${id}-title`} className="text-xl font-bold break-words">
              {title}
            </h2>
            {subtitle && (
              <p id={`${id}-subtitle`} className="text-sm text-muted">
                {subtitle}
              </p>
            )}
          </div>
        </header>
        {children}
      </div>
    </Modal>
  );
}
