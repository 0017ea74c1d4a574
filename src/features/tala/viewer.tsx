import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ProtectedImage } from "#components/images/protected-image.tsx";
import { PictureFailed, PictureLayer, PictureModal, Zoomed } from "#components/overlays/picture-overlay.tsx";
import { useZoom } from "#components/overlays/use-pan-zoom.ts";

type ViewerProps = {
  path: string;
  /** What is seen of it before it is here. */
  behind: string | undefined;
  size: { width: number; height: number };
  name: string;
  date: string;
  onClose: () => void;
};

const fitted = "absolute inset-0 m-auto h-auto max-h-full w-auto max-w-full";

/** A status's picture over the whole screen, to be looked at closely. */
export function Viewer({ path, behind, size, name, date, onClose }: ViewerProps) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "here" | "failed">("loading");
  const [tries, setTries] = useState(0);
  const zoom = useZoom(size, frame, { turn: () => {}, close: onClose });
  const again = () => {
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
  const failed = <PictureFailed text={t("tala.pictureFailed")} onAgain={again} />;
  return (
    <PictureModal label={alt} onClose={onClose}>
      <PictureLayer who={name} when={date} press={zoom.press} onClose={onClose}>
        <div className="relative min-h-0 flex-1">
          <Zoomed frame={frame} zoom={zoom} over={state === "here" ? null : state === "loading" ? loading : failed}>
            {behind && state !== "here" && (
              <img src={behind} alt="" {...{ width, height }} draggable={false} className={`${fitted} blur-sm`} />
            )}
            <ProtectedImage
              key={tries}
              src={path}
              alt={alt}
              {...{ width, height }}
              draggable={false}
              data-scale={zoom.pose.scale}
              className={`${fitted} ${state === "here" ? "" : "opacity-0"}`}
              onLoad={() => setState("here")}
              onFailure={() => setState("failed")}
            />
          </Zoomed>
        </div>
      </PictureLayer>
    </PictureModal>
  );
}
