import { useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { t as translate } from "#i18n/setup.ts";
import { stopStream } from "#lib/media/camera.ts";
import { Modal } from "./modal.tsx";
import { showToast } from "./toast.tsx";

const idealWidthPx = 1_920;
const idealHeightPx = 1_440;
const jpegQuality = 0.95; // it is resized afterwards, like every picture

type FacingMode = "environment" | "user";

const openCamera = (facing: FacingMode): Promise<MediaStream> =>
  navigator.mediaDevices.getUserMedia({
    video: { facingMode: { ideal: facing }, width: { ideal: idealWidthPx }, height: { ideal: idealHeightPx } },
  });

const countCameras = async (): Promise<number> =>
  (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === "videoinput").length;

type PhotoType = "image/jpeg" | "image/png";
const fileExtensions: Record<PhotoType, string> = { "image/jpeg": "jpg", "image/png": "png" };

const capturePhoto = async (video: HTMLVideoElement, type: PhotoType): Promise<File | undefined> => {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext("2d")?.drawImage(video, 0, 0);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, jpegQuality));
  const name = `photo ${new Date().toISOString().slice(0, 10)}.${fileExtensions[type]}`;
  return blob ? new File([blob], name, { type: blob.type }) : undefined;
};

type CameraSheetProps = { type?: PhotoType; onPhoto: (file: File) => void; onClose: () => void };

/** Rear camera with a shutter button. If no camera is available it shows an error and closes. */
export default function CameraSheet({ type = "image/jpeg", onPhoto, onClose }: CameraSheetProps) {
  const { t } = useTranslation();
  const id = useId();
  const video = useRef<HTMLVideoElement>(null);
  const [facing, setFacing] = useState<FacingMode>("environment");
  const [isPlaying, setPlaying] = useState(false);
  const [canTurn, setCanTurn] = useState(false);
  const close = useEffectEvent(onClose);

  useEffect(() => {
    let isCurrent = true;
    let stream: MediaStream | undefined;
    const open = async () => {
      try {
        stream = await openCamera(facing);
        if (!isCurrent || !video.current) return stopStream(stream);
        video.current.srcObject = stream;
        // The device list is complete only after the permission was granted.
        const cameras = await countCameras();
        if (isCurrent) setCanTurn(cameras > 1);
      } catch (error) {
        if (!isCurrent) return;
        const isDenied = error instanceof DOMException && ["NotAllowedError", "SecurityError"].includes(error.name);
        const message = translate(isDenied ? "chat.camera.denied" : "chat.camera.absent");
        showToast({ tone: "danger", title: translate("common.error"), message });
        close();
      }
    };
    void open();
    return () => {
      isCurrent = false;
      setPlaying(false);
      stopStream(stream);
    };
  }, [facing]);

  const takePhoto = async () => {
    const picture = video.current && (await capturePhoto(video.current, type));
    if (picture) onPhoto(picture);
  };

  return (
    <Modal
      labelledBy={`${id}-title`}
      className="fixed inset-0 m-0 flex size-full max-h-none max-w-none flex-col bg-black p-0 text-white"
      onDismiss={onClose}
    >
      <div className="flex min-h-14 shrink-0 items-center gap-1 px-1 pt-safe">
        <IconButton icon="i-ph-x" label={t("common.cancel")} className="hover:bg-white/15" onClick={onClose} />
        <h2 id={`${id}-title`} className="text-lg font-bold">
          {t("chat.camera.title")}
        </h2>
      </div>
      <div className="relative min-h-0 flex-1">
        <video
          ref={video}
          autoPlay
          muted
          playsInline
          className={`size-full object-contain ${facing === "user" ? "[transform:scaleX(-1)]" : ""}`}
          onPlaying={() => setPlaying(true)}
        />
        {!isPlaying && (
          <div className="absolute inset-0 grid place-items-center">
            <Spinner label={t("chat.camera.opening")} className="text-4xl" />
          </div>
        )}
      </div>
      <div className="grid shrink-0 grid-cols-3 items-center justify-items-center py-4 pb-[max(1rem,env(safe-area-inset-bottom))]">
        <span />
        <button
          type="button"
          data-autofocus
          disabled={!isPlaying}
          aria-label={t("chat.camera.shutter")}
          title={t("chat.camera.shutter")}
          className="size-18 rounded-full border-4 border-white bg-white/30 p-1 outline-white disabled:opacity-40"
          onClick={() => void takePhoto()}
        >
          <span className="block size-full rounded-full bg-white" />
        </button>
        {canTurn && (
          <IconButton
            icon="i-ph-camera-rotate"
            label={t("chat.camera.turn")}
            className="hover:bg-white/15"
            onClick={() => setFacing(facing === "user" ? "environment" : "user")}
          />
        )}
      </div>
    </Modal>
  );
}
