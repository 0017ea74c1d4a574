import { useEffect, useRef, useState } from "react";

type CallVideoProps = { stream: MediaStream; className?: string; fits?: boolean };

/** Video of a stream, without its audio. `fits`: a landscape video is shown whole, not cropped to the frame. */
export function CallVideo({ stream, className = "", fits = false }: CallVideoProps) {
  const ref = useRef<HTMLVideoElement>(null);
  const [isLandscape, setLandscape] = useState(false);
  useEffect(() => {
    const video = ref.current;
    if (!video) return;
    video.srcObject = stream;
    void video.play().catch(() => undefined); // blocked autoplay starts with the first tap
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
      className={`pointer-events-none ${className} ${fits ? (isLandscape ? "object-contain" : "object-cover") : ""}`}
      onResize={({ currentTarget: { videoWidth, videoHeight } }) => setLandscape(videoWidth > videoHeight)}
    />
  );
}
