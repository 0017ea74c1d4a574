import { type ImgHTMLAttributes, useEffect, useEffectEvent, useState } from "react";
import { isPermanentError } from "#contract/errors.ts";
import { ApiRequestError, requestApi } from "#lib/http/api.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { useObjectUrl } from "./use-object-url.ts";

const retryBackoff = { baseMs: 2_000, maxMs: 60_000 };

type ImageState = { src: string; step: "direct" } | { src: string; step: "fetched"; blob: Blob | undefined };

/** Fetches the image through the API client, which renews an expired session first. Throws `ApiRequestError`. */
const fetchImage = async (src: string, signal: AbortSignal): Promise<Blob> => {
  const response = (await requestApi("GET", src, undefined, {
    wantsResponse: true,
    signal,
    headers: { accept: "image/*" },
  })) as Response;
  return response.blob();
};

/** Resolves after the delay, earlier when the network returns, and never while the page is hidden. */
const waitForRetry = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    let isDue = false;
    const finishIfDue = () => {
      if (!isDue || document.visibilityState !== "visible") return;
      finish();
    };
    const onOnline = () => {
      isDue = true;
      finishIfDue();
    };
    const timer = setTimeout(onOnline, ms);
    const finish = () => {
      clearTimeout(timer);
      removeEventListener("online", onOnline);
      document.removeEventListener("visibilitychange", finishIfDue);
      resolve();
    };
    addEventListener("online", onOnline);
    document.addEventListener("visibilitychange", finishIfDue);
    signal.addEventListener("abort", finish);
  });

type ProtectedImageProps = Omit<ImgHTMLAttributes<HTMLImageElement>, "src" | "alt" | "onError"> & {
  src: string;
  alt: string;
  /** Called when the image cannot be loaded. It may still load later, unless the server has no such image. */
  onLoadError?: () => void;
};

/**
 * Image that requires a session. The browser requests it directly first, which the service worker can answer offline.
 * If that fails, for example because the access cookie expired, the image is fetched through the API client and retried
 * with growing delays while the network or the server fails. Renders nothing until it is loaded.
 */
export function ProtectedImage({ src, alt, onLoadError, ...attributes }: ProtectedImageProps) {
  const [state, setState] = useState<ImageState>({ src, step: "direct" });
  if (state.src !== src) setState({ src, step: "direct" });
  const isFetching = state.step === "fetched" && state.blob === undefined;
  const reportFailure = useEffectEvent(() => onLoadError?.());
  useEffect(() => {
    if (!isFetching) return;
    const controller = new AbortController();
    const { signal } = controller;
    const load = async (): Promise<void> => {
      for (let attempts = 0; !signal.aborted; attempts++) {
        try {
          const blob = await fetchImage(src, signal);
          if (!signal.aborted) setState({ src, step: "fetched", blob });
          return;
        } catch (error) {
          if (signal.aborted) return;
          reportFailure();
          if (!(error instanceof ApiRequestError) || (error.code !== "offline" && isPermanentError(error.code))) return;
          await waitForRetry(
            Math.max(retryDelayMs(attempts, Math.random, retryBackoff), error.retryAfterMs ?? 0),
            signal,
          );
        }
      }
    };
    void load();
    return () => controller.abort();
  }, [isFetching, src]);
  const url = useObjectUrl(state.step === "fetched" ? state.blob : undefined);
  const shown = state.step === "direct" ? src : url;
  const onError = () => {
    if (state.step === "direct") setState({ src, step: "fetched", blob: undefined });
    else onLoadError?.(); // the fetched bytes are not an image
  };
  return shown === undefined ? null : <img {...attributes} alt={alt} src={shown} onError={onError} />;
}
