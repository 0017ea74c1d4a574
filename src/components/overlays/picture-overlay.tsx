import type { ReactNode, RefObject } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "./modal.tsx";
import type { usePanZoom } from "./use-pan-zoom.ts";

/** Classes of buttons above a picture. */
export const pictureButtonClasses = "hover:!bg-white/15";
// Touch screens zoom by pinching.
const mouseOnlyClasses = "!hidden [@media(hover:hover)]:!inline-grid";

/** Full-screen black dialog. */
export function PictureModal({
  label,
  onClose,
  children,
}: {
  label: string;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Modal
      label={label}
      className="m-0 h-dvh max-h-none w-full max-w-none bg-black p-0 text-white [--accent:#eba3cc] [--muted:#c8c8c8]"
      onDismiss={onClose}
    >
      {children}
    </Modal>
  );
}

type PictureOverlayProps = {
  /** Name of the owner. */
  ownerName: string;
  dateText: string;
  /** Handles a key; returns whether it had an effect. */
  handleKey: (key: string) => boolean;
  /** Buttons after the zoom buttons. */
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
};

/** Picture with a header that names its owner; keyboard shortcuts work wherever the focus is. */
export function PictureOverlay({ ownerName, dateText, handleKey, actions, onClose, children }: PictureOverlayProps) {
  const { t } = useTranslation();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys work wherever the focus is
    <div
      tabIndex={-1} // a click on the picture keeps the keyboard focus here
      className="flex h-full flex-col pt-safe focus:outline-none"
      onKeyDown={(event) => {
        if (!event.metaKey && !event.ctrlKey && !event.altKey && handleKey(event.key)) event.preventDefault();
      }}
    >
      <header className="z-1 flex shrink-0 items-center gap-1 bg-black/40 px-2 py-1">
        <IconButton
          icon="i-ph-x"
          label={t("common.close")}
          data-autofocus=""
          className={pictureButtonClasses}
          onClick={onClose}
        />
        <div className="min-w-0 flex-1 px-1">
          <p className="truncate font-semibold">
            <bdi>{ownerName}</bdi>
          </p>
          <p className="truncate text-xs text-white/75 tabular-nums">{dateText}</p>
        </div>
        <IconButton
          icon="i-ph-magnifying-glass-minus"
          label={t("messages.zoomOut")}
          className={`${pictureButtonClasses} ${mouseOnlyClasses}`}
          onClick={() => handleKey("-")}
        />
        <IconButton
          icon="i-ph-magnifying-glass-plus"
          label={t("messages.zoomIn")}
          className={`${pictureButtonClasses} ${mouseOnlyClasses}`}
          onClick={() => handleKey("+")}
        />
        {actions}
      </header>
      {children}
    </div>
  );
}

type ZoomablePictureProps = {
  frameRef: RefObject<HTMLDivElement | null>;
  zoom: ReturnType<typeof usePanZoom>;
  /** Content above the picture that does not zoom with it. */
  overlay: ReactNode;
  children: ReactNode;
};

/** Zoomable content that fills its parent. */
export function ZoomablePicture({
  frameRef,
  zoom: { pose, isHeld, handlers },
  overlay,
  children,
}: ZoomablePictureProps) {
  return (
    <div
      ref={frameRef}
      className={`absolute inset-0 touch-none overflow-hidden select-none ${pose.scale > 1 ? "cursor-grab" : ""}`}
      {...handlers}
    >
      <div
        className={`absolute inset-0 ${isHeld ? "" : "transition-transform duration-150"}`}
        style={{ transform: `translate(${pose.x}px, ${pose.y}px) scale(${pose.scale})` }}
      >
        {children}
      </div>
      {overlay && <div className="absolute inset-0 grid place-items-center">{overlay}</div>}
    </div>
  );
}

/** Placeholder of a picture that failed to load, with a retry button. */
export function PictureLoadError({ text, onRetry }: { text: string; onRetry: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="grid place-items-center gap-3 rounded-card bg-black/60 p-4 text-center" role="alert">
      <p>{text}</p>
      <button
        type="button"
        className="inline-flex min-h-12 items-center gap-2 rounded-card bg-white/15 px-5 font-semibold"
        onClick={({ currentTarget }) => {
          // The button disappears; keyboard shortcuts need the focus in the overlay.
          currentTarget.closest<HTMLElement>("[tabindex]")?.focus();
          onRetry();
        }}
        onPointerDown={(event) => event.stopPropagation()}
      >
        <span className="i-ph-arrow-clockwise-bold" aria-hidden="true" />
        {t("common.retry")}
      </button>
    </div>
  );
}
