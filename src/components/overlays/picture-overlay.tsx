import type { ReactNode, RefObject } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "./modal.tsx";
import type { usePanZoom } from "./use-pan-zoom.ts";

/** What a button over a picture looks like. */
export const pictureButtonClasses = "hover:!bg-white/15";
// A finger zooms by itself.
const mouseOnlyClasses = "!hidden [@media(hover:hover)]:!inline-grid";

/** Black, over the whole screen. */
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
  /** Whose it is. */
  ownerName: string;
  dateText: string;
  /** What a key does to the picture; whether it did something. */
  handleKey: (key: string) => boolean;
  /** Buttons after those that zoom. */
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
};

/** A picture with whose it is above it; its keys work wherever the focus is. */
export function PictureOverlay({ ownerName, dateText, handleKey, actions, onClose, children }: PictureOverlayProps) {
  const { t } = useTranslation();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys work wherever the focus is
    <div
      tabIndex={-1} // a click on the picture keeps the keys here
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
  /** What stands over the picture and does not grow with it. */
  overlay: ReactNode;
  children: ReactNode;
};

/** What is looked at closely, as far as it was drawn near and moved; it fills what it stands in. */
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

/** In the place of a picture that could not be had. */
export function PictureLoadError({ text, onRetry }: { text: string; onRetry: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="grid place-items-center gap-3 rounded-card bg-black/60 p-4 text-center" role="alert">
      <p>{text}</p>
      <button
        type="button"
        className="inline-flex min-h-12 items-center gap-2 rounded-card bg-white/15 px-5 font-semibold"
        onClick={({ currentTarget }) => {
          // The button goes, and the keys work where the focus is.
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
