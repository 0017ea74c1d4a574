import type { ReactNode, RefObject } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "./modal.tsx";
import type { useZoom } from "./use-pan-zoom.ts";

/** What a button over a picture looks like. */
export const overPicture = "hover:!bg-white/15";
// A finger zooms by itself.
const forMouse = "!hidden [@media(hover:hover)]:!inline-grid";

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

type PictureLayerProps = {
  /** Whose it is. */
  who: string;
  when: string;
  /** What a key does to the picture; whether it did something. */
  press: (key: string) => boolean;
  /** Buttons after those that zoom. */
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
};

/** A picture with whose it is above it; its keys work wherever the focus is. */
export function PictureLayer({ who, when, press, actions, onClose, children }: PictureLayerProps) {
  const { t } = useTranslation();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys work wherever the focus is
    <div
      tabIndex={-1} // a click on the picture keeps the keys here
      className="flex h-full flex-col pt-safe focus:outline-none"
      onKeyDown={(event) => {
        if (!event.metaKey && !event.ctrlKey && !event.altKey && press(event.key)) event.preventDefault();
      }}
    >
      <header className="z-1 flex shrink-0 items-center gap-1 bg-black/40 px-2 py-1">
        <IconButton
          icon="i-ph-x"
          label={t("common.close")}
          data-autofocus=""
          className={overPicture}
          onClick={onClose}
        />
        <div className="min-w-0 flex-1 px-1">
          <p className="truncate font-semibold">
            <bdi>{who}</bdi>
          </p>
          <p className="truncate text-xs text-white/75 tabular-nums">{when}</p>
        </div>
        <IconButton
          icon="i-ph-magnifying-glass-minus"
          label={t("messages.zoomOut")}
          className={`${overPicture} ${forMouse}`}
          onClick={() => press("-")}
        />
        <IconButton
          icon="i-ph-magnifying-glass-plus"
          label={t("messages.zoomIn")}
          className={`${overPicture} ${forMouse}`}
          onClick={() => press("+")}
        />
        {actions}
      </header>
      {children}
    </div>
  );
}

type ZoomedProps = {
  frame: RefObject<HTMLDivElement | null>;
  zoom: ReturnType<typeof useZoom>;
  /** What stands over the picture and does not grow with it. */
  over: ReactNode;
  children: ReactNode;
};

/** What is looked at closely, as far as it was drawn near and moved; it fills what it stands in. */
export function Zoomed({ frame, zoom: { pose, isHeld, handlers }, over, children }: ZoomedProps) {
  return (
    <div
      ref={frame}
      className={`absolute inset-0 touch-none overflow-hidden select-none ${pose.scale > 1 ? "cursor-grab" : ""}`}
      {...handlers}
    >
      <div
        className={`absolute inset-0 ${isHeld ? "" : "transition-transform duration-150"}`}
        style={{ transform: `translate(${pose.x}px, ${pose.y}px) scale(${pose.scale})` }}
      >
        {children}
      </div>
      {over && <div className="absolute inset-0 grid place-items-center">{over}</div>}
    </div>
  );
}

/** In the place of a picture that could not be had. */
export function PictureFailed({ text, onAgain }: { text: string; onAgain: () => void }) {
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
          onAgain();
        }}
        onPointerDown={(event) => event.stopPropagation()}
      >
        <span className="i-ph-arrow-clockwise-bold" aria-hidden="true" />
        {t("common.retry")}
      </button>
    </div>
  );
}
