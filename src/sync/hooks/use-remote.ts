import { useCallback, useEffect, useState } from "react";
import { ApiRequestError, requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { useIsOffline, useLinkState } from "./use-connection.ts";
import { useRetry } from "./use-retry.ts";

export type RemoteFailure = { state: "failed"; code: ReturnType<typeof toErrorCode> };
/** State of a request to the server. "missing" only if the server answered 404. */
export type RemoteQuery<T> = { state: "loading" } | { state: "missing" } | RemoteFailure | { state: "found"; body: T };

/**
 * Fetches something that is not in the local store, while `isWanted`. A failed request is repeated by itself once the
 * server is reachable, or at once by the second value. `parse` converts the response body.
 */
export const useRemoteQuery = <T>(
  path: string,
  isWanted: boolean,
  parse: (body: unknown) => T,
): [query: RemoteQuery<T>, refetch: () => void] => {
  const [answer, setAnswer] = useState<{ path: string; query: RemoteQuery<T> }>();
  const [tries, setTries] = useState(0);
  const isOnline = useLinkState() === "online";
  const isOffline = useIsOffline();

  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` repeats the request; `parse` stays the same
  useEffect(() => {
    if (!isWanted || !isOnline) return;
    const controller = new AbortController();
    requestApi("GET", path, undefined, { signal: controller.signal })
      .then((body): RemoteQuery<T> => ({ state: "found", body: parse(body) }))
      .catch((error: unknown): RemoteQuery<T> => {
        const isMissing = error instanceof ApiRequestError && error.status === 404;
        return isMissing ? { state: "missing" } : { state: "failed", code: toErrorCode(error) };
      })
      .then((query) => {
        if (!controller.signal.aborted) setAnswer({ path, query });
      });
    return () => controller.abort();
  }, [path, isWanted, isOnline, tries]);

  const repeat = useCallback(() => setTries((before) => before + 1), []);
  const refetch = useCallback(() => {
    setAnswer(undefined);
    repeat();
  }, [repeat]);
  const known = answer?.path === path ? answer.query : undefined;
  useRetry(known?.state === "failed" && known.code === "offline" ? known : undefined, repeat);
  if (known) return [known, refetch];
  return [isWanted && isOffline ? { state: "failed", code: "offline" } : { state: "loading" }, refetch];
};
