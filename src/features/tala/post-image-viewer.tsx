import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ProtectedImage } from "#components/images/protected-image.tsx";
import {
  PictureLoadError,
  PictureModal,
  PictureOverlay,
  ZoomablePicture,
} from "#components/overlays/picture-overlay.tsx";
import { usePanZoom } from "#components/overlays/use-pan-zoom.ts";

type PostImageViewerProps = {
  path: string;
  /** URL of a preview shown while the image is loading. */
  placeholder: string | undefined;
  size: { width: number; height: number };
  name: string;
  date: string;
  onClose: () => void;
};

const fittedClass = "absolute inset-0 m-auto h-auto max-h-full w-auto max-w-full";

/** Full-screen view of a post's picture with zoom. */
export function PostImageViewer({ path, placeholder, size, name, date, onClose }: PostImageViewerProps) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "here" | "failed">("loading");
  const [tries, setTries] = useState(0);
  const zoom = usePanZoom(size, frame, { onTurn: () => {}, onClose });
  const retry = () => {
    setState("loading");
    setTries(tries + 1);
  };
  const alt = t("tala.picture", { name, date });
  const { width, height } = size;
  const loading = (
    <p role="status" className="late rounded-full bg-black/60 p-3 text-2xl">
      <span className="spinner" aria-hidden="true" />
      <span className="sr-only">{t("common.loading")}</span>
    </p>
  );
  const failed = <PictureLoadError text={t("tala.pictureFailed")} onRetry={retry} />;
  return (
    <PictureModal label={alt} onClose={onClose}>
      <PictureOverlay ownerName={name} dateText={date} handleKey={zoom.press} onClose={onClose}>
        <div className="relative min-h-0 flex-1">
          <ZoomablePicture
            frameRef={frame}
            zoom={zoom}
            overlay={state === "here" ? null : state === "loading" ? loading : failed}
          >
            {placeholder && state !== "here" && (
              <img
                src={placeholder}
                alt=""
                {...{ width, height }}
                draggable={false}
                className={`${fittedClass} blur-sm`}
              />
            )}
            <ProtectedImage
              key={tries}
              src={path}
              alt={alt}
              {...{ width, height }}
              draggable={false}
              data-scale={zoom.pose.scale}
              className={`${fittedClass} ${state === "here" ? "" : "opacity-0"}`}
              onLoad={() => setState("here")}
              onLoadError={() => setState("failed")}
            />
          </ZoomablePicture>
        </div>
      </PictureOverlay>
    </PictureModal>
  );
}
