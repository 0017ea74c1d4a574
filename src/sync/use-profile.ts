import { useCallback, useEffect, useState } from "react";
import * as v from "valibot";
import type { Uuid } from "../../contract/ids";
import { Profile } from "../../contract/people";
import { ApiFailure, request } from "../lib/api";
import { failureCode } from "../lib/exchange";
import { useLink, useMember, usePerson } from "./hooks";
import { toOwnRow } from "./rows";
import type { PersonRow } from "./store";

export type ProfileLook =
  | { state: "found"; person: PersonRow }
  | { state: "loading" }
  | { state: "missing" }
  | { state: "failed"; code: ReturnType<typeof failureCode> };

type Answer = { id: Uuid; look: ProfileLook };

/**
 * Somebody's profile. Almost always in the local store, were it only as a member of one's groups; a person this device
 * never heard of is asked for, and only the server's own word makes them missing. After a failure it is asked for again when the link comes back,
 * or by the second value.
 */
export const useProfile = (id: Uuid): [look: ProfileLook, again: () => void] => {
  const person = usePerson(id);
  const member = useMember(id);
  const link = useLink();
  const [answer, setAnswer] = useState<Answer>();
  const [tries, setTries] = useState(0);
  const isUnknown = person === null && member === null;
  const isOffline = link === "offline";
  const isOnline = link === "online";

  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` is asking again
  useEffect(() => {
    if (!isUnknown || !isOnline) return;
    const controller = new AbortController();
    request("GET", `/api/users/${id}`, undefined, { signal: controller.signal })
      .then((body): ProfileLook => ({ state: "found", person: toOwnRow(v.parse(Profile, body)) }))
      .catch((error: unknown): ProfileLook => {
        const isMissing = error instanceof ApiFailure && error.status === 404;
        return isMissing ? { state: "missing" } : { state: "failed", code: failureCode(error) };
      })
      .then((look) => {
        if (!controller.signal.aborted) setAnswer({ id, look });
      });
    return () => controller.abort();
  }, [id, isUnknown, isOnline, tries]);

  const again = useCallback(() => {
    setAnswer(undefined);
    setTries((before) => before + 1);
  }, []);
  if (person) return [{ state: "found", person }, again];
  if (person === null && member) return [{ state: "found", person: member }, again];
  if (answer?.id === id) return [answer.look, again];
  return [isUnknown && isOffline ? { state: "failed", code: "offline" } : { state: "loading" }, again];
};
