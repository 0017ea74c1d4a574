import { useRef } from "react";
import { type GroupCard, groupPath } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { ConversationView } from "#sync/store/view-models.ts";
import { useConversation } from "./use-live-query.ts";
import { type RemoteFailure, useRemoteQuery } from "./use-remote.ts";

export type GroupView = ConversationView & { group: GroupCard };

export type GroupLookup =
  | { state: "here"; view: GroupView }
  | { state: "loading" }
  /** I was a member; the name is known if it was seen. */
  | { state: "gone"; name: string | undefined }
  | { state: "missing" }
  | RemoteFailure;

const hasCard = (view: ConversationView | undefined): view is GroupView => view?.group != null;

/** A group I am in. Almost always in the local store; of one that this device never heard of the server is asked. */
export const useGroup = (id: Uuid): [look: GroupLookup, again: () => void] => {
  const view = useConversation(id);
  const name = useRef<string>(undefined);
  if (hasCard(view)) name.current = view.group.name;
  const isUnknown = view !== undefined && !hasCard(view) && !view.gone;
  const [asked, again] = useRemoteQuery(groupPath(id), isUnknown, () => undefined);
  if (view?.gone) return [{ state: "gone", name: name.current }, again];
  if (hasCard(view)) return [{ state: "here", view }, again];
  if (asked.state === "found") return [{ state: "loading" }, again]; // it is there, and its row on the way
  const wasHere = asked.state === "missing" && name.current !== undefined;
  return [wasHere ? { state: "gone", name: name.current } : asked, again];
};
