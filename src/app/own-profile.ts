import { useEffect } from "react";
import * as v from "valibot";
import { Profile } from "../../contract/people";
import { request } from "../lib/api";
import { setMe } from "../sync/actions";
import { useLink } from "../sync/hooks";

/** Asks once per start for the own profile, which may have been changed on another device. */
export const useOwnProfile = (userId: string): void => {
  const isOnline = useLink() === "online";
  useEffect(() => {
    if (!isOnline) return;
    const abort = new AbortController();
    request("GET", `/api/users/${userId}`, undefined, { signal: abort.signal })
      .then((answer) => setMe(v.parse(Profile, answer)))
      .catch((error: unknown) => {
        // What is known stays on show; the next time the link comes up asks again.
        if (!abort.signal.aborted) console.warn("own profile", error);
      });
    return () => abort.abort();
  }, [isOnline, userId]);
};
