import { useEffect, useRef, useState } from "react";

const openTimeoutMs = 5_000; // user activation of a tap lasts this long

const exitPictureInPicture = (video: HTMLVideoElement | undefined): void => {
  if (video && document.pictureInPictureElement === video) {
    void document.exitPictureInPicture().catch(() => undefined);
  }
};

type PictureInPictureControl = {
  /** Undefined if the browser has no picture-in-picture or there is no video. Must be called within a tap. */
  openPictureInPicture: (() => void) | undefined;
  /** Whether the window is open, or will open with the first video frame. */
  isPictureInPicture: boolean;
};

/** Shows the remote video in a picture-in-picture window, where the browser supports it. */
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
  const createVideo = (): HTMLVideoElement => {
    const created = document.createElement("video");
    created.muted = true;
    created.playsInline = true;
    created.addEventListener("leavepictureinpicture", () => setOut(false));
    return created;
  };
  const popOut = () => {
    const element = video.current ?? createVideo();
    video.current = element;
    element.title = title;
    element.srcObject = remote;
    setOut(true);
    const show = () => void element.requestPictureInPicture().catch(() => setOut(false)); // refused: nothing changes
    void element.play().catch(() => undefined);
    if (element.readyState >= HTMLMediaElement.HAVE_METADATA) show();
    else {
      element.addEventListener("loadedmetadata", show, { once: true });
      setTimeout(() => setOut(document.pictureInPictureElement === element), openTimeoutMs);
    }
  };
  return { openPictureInPicture: popOut, isPictureInPicture: isOut };
};
