import { useEffect, useState } from "react";

/** Id of the camera after the one in use; undefined if there is no other. */
export const useNextCamera = (isCameraOn: boolean, local: MediaStream | undefined): string | undefined => {
  const [cameras, setCameras] = useState<string[]>([]);
  useEffect(() => {
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    if (!isCameraOn || !devices) return;
    const update = () =>
      devices.enumerateDevices().then(
        (all) => setCameras(all.filter(({ kind }) => kind === "videoinput").map(({ deviceId }) => deviceId)),
        () => undefined,
      );
    void update();
    devices.addEventListener("devicechange", update);
    return () => devices.removeEventListener("devicechange", update);
  }, [isCameraOn]);
  if (!isCameraOn || cameras.length < 2) return undefined;
  const currentId = local?.getVideoTracks()[0]?.getSettings().deviceId ?? "";
  return cameras[(cameras.indexOf(currentId) + 1) % cameras.length];
};
