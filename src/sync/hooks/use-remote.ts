import { useCallback, useEffect, useState } from "react";
import { ApiRequestError, requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { useIsOffline } from "./use-connection.ts";
import { useLinkState } from "./use-live-query.ts";
import { useRetry } from "./use-retry.ts";

export type RemoteFailure = { state: "failed"; code: ReturnType<typeof toErrorCode> };
/** What came of asking; only the server's own word makes something missing. */
export type RemoteQuery<T> = { state: "loading" } | { state: "missing" } | RemoteFailure | { state: "found"; body: T };

/**
 * What this device never heard of is asked for while `isWanted`. After a failure it is asked for again by itself
 * once there is a way, or by the second value. `read` takes the body of the answer.
 */
export const useRemoteQuery = <T>(
  path: string,
  isWanted: boolean,
  read: (body: unknown) => T,
): [asked: RemoteQuery<T>, again: () => void] => {
  const [answer, setAnswer] = useState<{ path: string; asked: RemoteQuery<T> }>();
  const [tries, setTries] = useState(0);
  const isOnline = useLinkState() === "online";
  const isOffline = useIsOffline();

  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` is asking again, and `read` is always the same
  useEffect(() => {
    if (!isWanted || !isOnline) return;
    const controller = new AbortController();
    requestApi("GET", path, undefined, { signal: controller.signal })
      .then((body): RemoteQuery<T> => ({ state: "found", body: read(body) }))
      .catch((error: unknown): RemoteQuery<T> => {
        const isMissing = error instanceof ApiRequestError && error.status === 404;
        return isMissing ? { state: "missing" } : { state: "failed", code: toErrorCode(error) };
      })
      .then((asked) => {
        if (!controller.signal.aborted) setAnswer({ path, asked });
      });
    return () => controller.abort();
  }, [path, isWanted, isOnline, tries]);

  const ask = useCallback(() => setTries((before) => before + 1), []);
  const again = useCallback(() => {
    setAnswer(undefined);
    ask();
  }, [ask]);
  const known = answer?.path === path ? answer.asked : undefined;
  useRetry(known?.state === "failed" && known.code === "offline" ? known : undefined, ask);
  if (known) return [known, again];
  return [isWanted && isOffline ? { state: "failed", code: "offline" } : { state: "loading" }, again];
};
