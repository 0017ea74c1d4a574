import { useEffect, useRef } from "react";

/**
 * The other side's picture in a window of its own, over other programs, where the browser has such; undefined where
 * it has none or there is no picture. To be called within a tap.
 */
export const usePopOut = (remote: MediaStream | undefined, title: string): (() => void) | undefined => {
  const video = useRef<HTMLVideoElement>(undefined);
  useEffect(() => {
    if (remote) return;
    if (video.current && document.pictureInPictureElement === video.current) {
      void document.exitPictureInPicture().catch(() => undefined);
    }
    video.current = undefined;
  }, [remote]);
  useEffect(
    () => () => {
      if (video.current && document.pictureInPictureElement === video.current) {
        void document.exitPictureInPicture().catch(() => undefined);
      }
    },
    [],
  );
  if (!remote || !document.pictureInPictureEnabled) return undefined;
  return () => {
    const shown = video.current ?? document.createElement("video");
    video.current = shown;
    shown.muted = true;
    shown.playsInline = true;
    shown.title = title;
    shown.srcObject = remote;
    const show = () => void shown.requestPictureInPicture().catch(() => undefined); // refused: nothing changes
    void shown.play().catch(() => undefined);
    if (shown.readyState >= HTMLMediaElement.HAVE_METADATA) show();
    else shown.addEventListener("loadedmetadata", show, { once: true });
  };
};
