import { useEffect, useState } from "react";
import * as v from "valibot";
import type { Uuid } from "../../../contract/ids";
import { Profile } from "../../../contract/people";
import { ApiFailure, request } from "../../lib/api";
import { useLink, usePerson } from "../../sync/hooks";

export type Peer = { username: string; phone: string; avatar: string | null };
type Answer = { id: Uuid; peer: Peer | "not_found" };

/**
 * The person across. Almost always in the local store; somebody this device never heard of is asked for, and
 * only the server's own word makes them not found: undefined while nobody knows.
 */
export const usePeer = (id: Uuid): Peer | "not_found" | undefined => {
  const person = usePerson(id);
  const link = useLink();
  const [answer, setAnswer] = useState<Answer>();
  const isUnknown = person === null;
  const isOnline = link === "online";

  useEffect(() => {
    if (!isUnknown || !isOnline) return;
    const controller = new AbortController();
    request("GET", `/api/users/${id}`, undefined, { signal: controller.signal }).then(
      (body) => {
        const { username, phone, avatar_url: avatar } = v.parse(Profile, body);
        setAnswer({ id, peer: { username, phone, avatar } });
      },
      (error: unknown) => {
        if (error instanceof ApiFailure && error.status === 404) setAnswer({ id, peer: "not_found" });
      },
    );
    return () => controller.abort();
  }, [id, isUnknown, isOnline]);

  if (person) return person;
  return answer?.id === id ? answer.peer : undefined;
};
