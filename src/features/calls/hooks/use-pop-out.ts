import { useEffect, useRef, useState } from "react";

const comingMs = 5_000; // a tap opens a window as long as that after it

const exitFrom = (video: HTMLVideoElement | undefined): void => {
  if (video && document.pictureInPictureElement === video) {
    void document.exitPictureInPicture().catch(() => undefined);
  }
};

type PopOut = {
  /** Undefined where the browser has no such window or there is no picture. To be called within a tap. */
  popOut: (() => void) | undefined;
  /** The window is there, or is to come with the first of the picture. */
  isOut: boolean;
};

/** The other side's picture in a window of its own, over other programs, where the browser has such. */
export const usePopOut = (remote: MediaStream | undefined, title: string): PopOut => {
  const video = useRef<HTMLVideoElement>(undefined);
  const [isOut, setOut] = useState(false);
  useEffect(() => {
    if (remote) return;
    exitFrom(video.current);
    video.current = undefined;
    setOut(false);
  }, [remote]);
  useEffect(() => () => exitFrom(video.current), []);
  if (!remote || !document.pictureInPictureEnabled) return { popOut: undefined, isOut };
  const makeVideo = (): HTMLVideoElement => {
    const made = document.createElement("video");
    made.muted = true;
    made.playsInline = true;
    made.addEventListener("leavepictureinpicture", () => setOut(false));
    return made;
  };
  const popOut = () => {
    const shown = video.current ?? makeVideo();
    video.current = shown;
    shown.title = title;
    shown.srcObject = remote;
    setOut(true);
    const show = () => void shown.requestPictureInPicture().catch(() => setOut(false)); // refused: nothing changes
    void shown.play().catch(() => undefined);
    if (shown.readyState >= HTMLMediaElement.HAVE_METADATA) show();
    else {
      shown.addEventListener("loadedmetadata", show, { once: true });
      setTimeout(() => setOut(document.pictureInPictureElement === shown), comingMs);
    }
  };
  return { popOut, isOut };
};
