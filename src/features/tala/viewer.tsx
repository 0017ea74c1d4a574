import { useRef, useState } from "react";
import { IconButton } from "../../components/icon-button";
import { Modal } from "../../components/modal";
import { useZoom } from "../../components/use-zoom";
import { useT } from "../../i18n/setup";

const overPicture = "hover:!bg-white/15";
// A finger zooms by itself.
const forMouse = "!hidden [@media(hover:hover)]:!inline-grid";

type ViewerProps = {
  path: string;
  /** What is seen of it before it is here. */
  behind: string | undefined;
  size: { width: number; height: number };
  name: string;
  date: string;
  onClose: () => void;
};

/** A status's picture over the whole screen, to be looked at closely. */
export function Viewer({ path, behind, size, name, date, onClose }: ViewerProps) {
  const t = useT();
  const frame = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "here" | "failed">("loading");
  const [tries, setTries] = useState(0);
  const { pose, isHeld, press, handlers } = useZoom(size, frame, { turn: () => {}, close: onClose });
  const again = () => {
    setState("loading");
    setTries(tries + 1);
  };
  const alt = t("tala.picture", { name, date });
  return (
    <Modal
      label={alt}
      className="m-0 h-dvh max-h-none w-full max-w-none bg-black p-0 text-white [--accent:#eba3cc] [--muted:#c8c8c8]"
      onDismiss={onClose}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys work wherever the focus is */}
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
              <bdi>{name}</bdi>
            </p>
            <p className="truncate text-xs text-white/75">{date}</p>
          </div>
          {(["-", "+"] as const).map((key) => (
            <IconButton
              key={key}
              icon={key === "-" ? "i-ph-magnifying-glass-minus" : "i-ph-magnifying-glass-plus"}
              label={t(key === "-" ? "messages.zoomOut" : "messages.zoomIn")}
              className={`${overPicture} ${forMouse}`}
              onClick={() => press(key)}
            />
          ))}
        </header>
        <div
          ref={frame}
          className={`relative min-h-0 flex-1 touch-none overflow-hidden select-none ${pose.scale > 1 ? "cursor-grab" : ""}`}
          {...handlers}
        >
          <div
            className={`absolute inset-0 ${isHeld ? "" : "transition-transform duration-150"}`}
            style={{ transform: `translate(${pose.x}px, ${pose.y}px) scale(${pose.scale})` }}
          >
            {behind && state !== "here" && (
              <img
                src={behind}
                alt=""
                width={size.width}
                height={size.height}
                draggable={false}
                className="absolute inset-0 m-auto h-auto max-h-full w-auto max-w-full blur-sm"
              />
            )}
            <img
              key={tries}
              src={path}
              alt={alt}
              width={size.width}
              height={size.height}
              draggable={false}
              data-scale={pose.scale}
              className={`absolute inset-0 m-auto h-auto max-h-full w-auto max-w-full ${state === "here" ? "" : "opacity-0"}`}
              onLoad={() => setState("here")}
              onError={() => setState("failed")}
            />
          </div>
          {state !== "here" && (
            <div className="absolute inset-0 grid place-items-center">
              {state === "loading" ? (
                <p role="status" className="late rounded-full bg-black/60 p-3 text-2xl">
                  <span className="spinner" aria-hidden="true" />
                  <span className="sr-only">{t("common.loading")}</span>
                </p>
              ) : (
                <div className="grid place-items-center gap-3 rounded-card bg-black/60 p-4 text-center" role="alert">
                  <p>{t("tala.pictureFailed")}</p>
                  <button
                    type="button"
                    className="inline-flex min-h-12 items-center gap-2 rounded-card bg-white/15 px-5 font-semibold"
                    onClick={again}
                    onPointerDown={(event) => event.stopPropagation()}
                  >
                    <span className="i-ph-arrow-clockwise-bold" aria-hidden="true" />
                    {t("common.retry")}
                  </button>
                </div>
              )}
            </div>
          )}
        </div>
      </div>
    </Modal>
  );
}
