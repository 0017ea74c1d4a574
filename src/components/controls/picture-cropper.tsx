import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { renderSquare } from "#lib/media/avatar-file.ts";
import { type CropSquare, cropZoomMax, type Size, toCropSquare, toImagePlacement } from "#lib/media/crop.ts";
import { Button } from "./button.tsx";
import { Spinner } from "./spinner.tsx";
import { useCrop } from "./use-crop.ts";

const toPercent = (part: number): string => `${part * 100}%`;

type CropEditorProps = { url: string; size: Size; isBusy: boolean; onCrop: (cut: CropSquare) => void };

/** Square crop frame with the visible circle, zoom control and confirm button. */
function CropEditor({ url, size, isBusy, onCrop }: CropEditorProps) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const { crop, setZoom, handlers } = useCrop(size, frame);
  useEffect(() => frame.current?.focus(), []); // mounted after the dialog opened, so `autofocus` has no effect
  const { width, height, left, top } = toImagePlacement(size, crop);
  const zoomText = `${Math.round(crop.zoom * 100)} %`;
  return (
    <div className="flex min-h-0 flex-1 flex-col items-center gap-4 overflow-y-auto p-4">
      <div
        ref={frame}
        role="application"
        aria-label={t("profile.cropStage")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the picture is moved and zoomed by keyboard
        tabIndex={0}
        className="relative aspect-square w-full max-w-[min(384px,max(240px,calc(100dvh-20rem)))] shrink-0 cursor-move touch-none overflow-hidden rounded-card bg-black select-none"
        {...handlers}
      >
        <img
          src={url}
          alt=""
          draggable={false}
          className="pointer-events-none absolute max-w-none"
          style={{ width: toPercent(width), height: toPercent(height), left: toPercent(left), top: toPercent(top) }}
        />
        <span
          aria-hidden="true"
          className="pointer-events-none absolute inset-0 rounded-full shadow-[0_0_0_100vmax_rgb(0_0_0/55%)] outline-2 outline-white/80 -outline-offset-2 outline-solid"
        />
      </div>
      <p className="text-center text-muted text-balance">{t("profile.cropHint")}</p>
      <div className="flex min-h-12 w-full max-w-96 items-center gap-3">
        <span className="i-ph-image text-xl text-muted" aria-hidden="true" />
        <input
          type="range"
          min={1}
          max={cropZoomMax}
          step={0.05}
          value={crop.zoom}
          aria-label={t("profile.cropZoom")}
          aria-valuetext={zoomText}
          className="h-12 min-w-0 flex-1 accent-[var(--accent-fill)]"
          onChange={({ target }) => setZoom(Number(target.value))}
        />
        <span className="i-ph-image text-3xl text-muted" aria-hidden="true" />
      </div>
      <Button className="w-full max-w-96" busy={isBusy} onClick={() => onCrop(toCropSquare(size, crop))}>
        {t("profile.cropUse")}
      </Button>
    </div>
  );
}

export type PictureCropperProps = {
  file: Blob;
  onDone: (picture: Blob) => void;
  /** Called if the browser cannot decode the file as an image. */
  onUnreadable: () => void;
};

/** Crops a profile picture. Only the resized square is uploaded. */
export default function PictureCropper({ file, onDone, onUnreadable }: PictureCropperProps) {
  const [loaded, setLoaded] = useState<{ url: string; picture: HTMLImageElement }>();
  const [isBusy, setBusy] = useState(false);
  const reportUnreadable = useEffectEvent(onUnreadable);

  useEffect(() => {
    const url = URL.createObjectURL(file);
    const picture = new Image();
    let isCurrent = true;
    picture.src = url;
    picture.decode().then(
      () => isCurrent && setLoaded({ url, picture }),
      () => isCurrent && reportUnreadable(),
    );
    return () => {
      isCurrent = false;
      URL.revokeObjectURL(url);
    };
  }, [file]);

  const applyCrop = async (cut: CropSquare) => {
    if (!loaded) return;
    setBusy(true);
    try {
      onDone(await renderSquare(loaded.picture, cut));
    } catch {
      onUnreadable();
    }
  };
  return loaded ? (
    <CropEditor
      url={loaded.url}
      size={{ width: loaded.picture.naturalWidth, height: loaded.picture.naturalHeight }}
      isBusy={isBusy}
      onCrop={(cut) => void applyCrop(cut)}
    />
  ) : (
    <div className="grid flex-1 place-items-center">
      <Spinner className="text-3xl" />
    </div>
  );
}
