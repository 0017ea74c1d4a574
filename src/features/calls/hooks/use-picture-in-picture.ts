import { useEffect, useRef, useState } from "react";

const openTimeoutMs = 5_000; // a tap opens a window as long as that after it

const exitPictureInPicture = (video: HTMLVideoElement | undefined): void => {
  if (video && document.pictureInPictureElement === video) {
    void document.exitPictureInPicture().catch(() => undefined);
  }
};

type PictureInPictureControl = {
  /** Undefined where the browser has no such window or there is no picture. To be called within a tap. */
  openPictureInPicture: (() => void) | undefined;
  /** The window is there, or is to come with the first of the picture. */
  isPictureInPicture: boolean;
};

/** The other side's picture in a window of its own, over other programs, where the browser has such. */
export const usePictureInPicture = (remote: MediaStream | undefined, title: string): PictureInPictureControl => {
  const video = useRef<HTMLVideoElement>(undefined);
  const [isOut, setOut] = useState(false);
  useEffect(() => {
    if (remote) return;
    exitPictureInPicture(video.current);
    video.current = undefined;
    setOut(false);
  }, [remote]);
  useEffect(() => () => exitPictureInPicture(video.current), []);
  if (!remote || !document.pictureInPictureEnabled)
    return { openPictureInPicture: undefined, isPictureInPicture: isOut };
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
      setTimeout(() => setOut(document.pictureInPictureElement === shown), openTimeoutMs);
    }
  };
  return { openPictureInPicture: popOut, isPictureInPicture: isOut };
};
