import { useEffect, useRef, useState } from "react";

type CallVideoProps = { stream: MediaStream; className?: string; fits?: boolean };

/** A stream's moving picture, without its sound. `fits`: one that lies across is shown whole, not cut to the frame. */
export function CallVideo({ stream, className = "", fits = false }: CallVideoProps) {
  const ref = useRef<HTMLVideoElement>(null);
  const [isAcross, setAcross] = useState(false);
  useEffect(() => {
    const video = ref.current;
    if (!video) return;
    video.srcObject = stream;
    void video.play().catch(() => undefined); // one that may not yet play does once it is touched
    return () => {
      video.srcObject = null;
    };
  }, [stream]);
  return (
    <video
      ref={ref}
      muted
      autoPlay
      playsInline
      disablePictureInPicture={!fits}
      data-fits={fits ? "" : undefined}
      className={`pointer-events-none ${className} ${fits ? (isAcross ? "object-contain" : "object-cover") : ""}`}
      onResize={({ currentTarget: { videoWidth, videoHeight } }) => setAcross(videoWidth > videoHeight)}
    />
  );
}
