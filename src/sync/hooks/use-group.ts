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
  /** The person was a member; the name is known if this screen showed it. */
  | { state: "gone"; name: string | undefined }
  | { state: "missing" }
  | RemoteFailure;

const hasCard = (view: ConversationView | undefined): view is GroupView => view?.group != null;

/** A group of this person, from the local store or, if this device does not know it yet, from the server. */
export const useGroup = (id: Uuid): [lookup: GroupLookup, refetch: () => void] => {
  const view = useConversation(id);
  const name = useRef<string>(undefined);
  if (hasCard(view)) name.current = view.group.name;
  const isUnknown = view !== undefined && !hasCard(view) && !view.gone;
  const [query, refetch] = useRemoteQuery(groupPath(id), isUnknown, () => undefined);
  if (view?.gone) return [{ state: "gone", name: name.current }, refetch];
  if (hasCard(view)) return [{ state: "here", view }, refetch];
  if (query.state === "found") return [{ state: "loading" }, refetch]; // the group exists and its row is about to arrive
  const wasHere = query.state === "missing" && name.current !== undefined;
  return [wasHere ? { state: "gone", name: name.current } : query, refetch];
};
