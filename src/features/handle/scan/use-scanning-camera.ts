import { type RefObject, useEffect, useEffectEvent, useState } from "react";
import { sleep } from "#lib/browser/time/sleep.ts";
import { stopStream } from "#lib/media/camera.ts";
import { createCodeReader } from "./code-reader.ts";

const idealSidePx = 1_280;
const frameEveryMs = 150; // leaves most of the processor of an old phone to the picture itself

type CameraProblem = "denied" | "absent" | "busy" | "unloaded";
export type CameraState = "opening" | "open" | CameraProblem;

const openCamera = async (): Promise<MediaStream> => {
  // Absent in pages without TLS and in browsers inside some apps.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) throw new DOMException("no media devices", "NotFoundError");
  const side = { ideal: idealSidePx };
  return devices.getUserMedia({ video: { facingMode: { ideal: "environment" }, width: side, height: side } });
};

/** https://w3c.github.io/mediacapture-main/#dom-mediadevices-getusermedia */
const toProblem = (error: unknown): CameraProblem => {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "denied";
  return name === "NotReadableError" || name === "AbortError" ? "busy" : "absent";
};

/** Whether the page is in front. Hidden pages switch the camera off. */
const useIsVisible = (): boolean => {
  const [isVisible, setVisible] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const update = () => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return isVisible;
};

/**
 * Shows the rear camera in `video` while the page is visible, and reads codes from it until the first one. Each change
 * of `attempt` opens it again after a problem.
 */
export const useScanningCamera = (
  video: RefObject<HTMLVideoElement | null>,
  attempt: number,
  onCode: (text: string) => void,
): CameraState => {
  const [shown, setShown] = useState<{ attempt: number; state: CameraState }>({ attempt, state: "opening" });
  const isVisible = useIsVisible();
  const report = useEffectEvent(onCode);
  useEffect(() => {
    if (!isVisible) return;
    let isCurrent = true;
    let stream: MediaStream | undefined;
    const show = (state: CameraState) => setShown({ attempt, state });
    const fail = (problem: CameraProblem) => {
      stopStream(stream);
      if (isCurrent) show(problem);
    };
    const scan = async () => {
      show("opening");
      const reading = createCodeReader().catch(() => undefined);
      try {
        stream = await openCamera();
      } catch (error) {
        return fail(toProblem(error));
      }
      if (!isCurrent || !video.current) return stopStream(stream);
      // Taken by another app, unplugged, or the permission withdrawn.
      for (const track of stream.getTracks()) track.addEventListener("ended", () => fail("busy"));
      video.current.srcObject = stream;
      const read = await reading;
      if (!read) return fail("unloaded");
      while (isCurrent) {
        const { current } = video;
        if (current && current.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) {
          setShown((before) => (before.state === "opening" ? { attempt, state: "open" } : before));
          const text = await read(current).catch(() => undefined);
          if (isCurrent && text) return report(text);
        }
        await sleep(frameEveryMs);
      }
    };
    void scan();
    return () => {
      isCurrent = false;
      stopStream(stream);
    };
  }, [isVisible, attempt, video]);
  return shown.attempt === attempt ? shown.state : "opening";
};
