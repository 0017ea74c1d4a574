import { useEffect, useState } from "react";

/** The id of the camera after the one that films; undefined where there is no other. */
export const useNextCamera = (isFilmed: boolean, local: MediaStream | undefined): string | undefined => {
  const [cameras, setCameras] = useState<string[]>([]);
  useEffect(() => {
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    if (!isFilmed || !devices) return;
    const list = () =>
      devices.enumerateDevices().then(
        (all) => setCameras(all.filter(({ kind }) => kind === "videoinput").map(({ deviceId }) => deviceId)),
        () => undefined,
      );
    void list();
    devices.addEventListener("devicechange", list);
    return () => devices.removeEventListener("devicechange", list);
  }, [isFilmed]);
  if (!isFilmed || cameras.length < 2) return undefined;
  const now = local?.getVideoTracks()[0]?.getSettings().deviceId ?? "";
  return cameras[(cameras.indexOf(now) + 1) % cameras.length];
};
