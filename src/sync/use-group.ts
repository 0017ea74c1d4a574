import { useCallback, useEffect, useRef, useState } from "react";
import { type GroupCard, groupPath } from "../../contract/groups";
import type { Uuid } from "../../contract/ids";
import { ApiFailure, request } from "../lib/api";
import { failureCode } from "../lib/exchange";
import { useConversation, useLink } from "./hooks";
import type { ConversationView } from "./views";

export type GroupView = ConversationView & { group: GroupCard };

export type GroupLook =
  | { state: "here"; view: GroupView }
  | { state: "loading" }
  /** I was a member; the name is known if it was seen. */
  | { state: "gone"; name: string | undefined }
  | { state: "missing" }
  | { state: "failed"; code: ReturnType<typeof failureCode> };

type Answer = { id: Uuid; look: GroupLook };

const hasCard = (view: ConversationView | undefined): view is GroupView => view?.group != null;

/**
 * A group I am in. Almost always in the local store; of one that this device never heard of the server is asked, and
 * only its own word makes it missing. After a failure it is asked again when the link comes back, or by the second
 * value.
 */
export const useGroup = (id: Uuid): [look: GroupLook, again: () => void] => {
  const view = useConversation(id);
  const link = useLink();
  const [answer, setAnswer] = useState<Answer>();
  const [tries, setTries] = useState(0);
  const name = useRef<string>(undefined);
  if (hasCard(view)) name.current = view.group.name;
  const isUnknown = view !== undefined && !hasCard(view) && !view.gone;
  const isOnline = link === "online";

  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` is asking again
  useEffect(() => {
    if (!isUnknown || !isOnline) return;
    const controller = new AbortController();
    request("GET", groupPath(id), undefined, { signal: controller.signal })
      .then((): GroupLook => ({ state: "loading" })) // it is there, and its row on the way
      .catch((error: unknown): GroupLook => {
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
  if (view?.gone) return [{ state: "gone", name: name.current }, again];
  if (hasCard(view)) return [{ state: "here", view }, again];
  if (answer?.id === id) {
    const wasHere = answer.look.state === "missing" && name.current !== undefined;
    return [wasHere ? { state: "gone", name: name.current } : answer.look, again];
  }
  return [isUnknown && link === "offline" ? { state: "failed", code: "offline" } : { state: "loading" }, again];
};
