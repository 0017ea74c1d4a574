import { useCallback, useEffect, useRef, useState } from "react";
import { hasEnded } from "#contract/conversations.ts";
import { type GroupCard, groupPath } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { FailureCode } from "#sync/platform/sync-error.ts";
import type { MemberRow } from "#sync/store/database.ts";
import { readMembers } from "#sync/store/members.ts";
import type { ConversationView } from "#sync/store/view-models.ts";
import { useLinkState } from "./use-connection.ts";
import { useConversation } from "./use-conversations.ts";
import { useEngine, useLiveQuery } from "./use-live-query.ts";
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
  if (view && hasEnded(view)) return [{ state: "gone", name: name.current }, refetch];
  if (hasCard(view)) return [{ state: "here", view }, refetch];
  if (query.state === "found") return [{ state: "loading" }, refetch]; // its row is about to arrive
  const wasHere = query.state === "missing" && name.current !== undefined;
  return [wasHere ? { state: "gone", name: name.current } : query, refetch];
};

export type GroupMembersState = {
  /** The complete list; undefined before this device had it once. */
  members: MemberRow[] | undefined;
  /** Whether all roles are of the same moment; otherwise some may be outdated. */
  areRolesKnown: boolean;
  state: "loading" | "ready" | "failed";
  code?: FailureCode;
  refetch(): void;
};

/**
 * All members of a group: the stored list at once, then the list of `membersVersion`. The previous list stays while
 * changes are fetched. A failed fetch is repeated by itself, or at once by `refetch`.
 */
export const useGroupMembers = (group: ConversationId, membersVersion: number | undefined): GroupMembersState => {
  const engine = useEngine();
  const isOnline = useLinkState() === "online";
  const [tries, setTries] = useState(0);
  const [failure, setFailure] = useState<FailureCode>();
  const held = useLiveQuery(`members ${group}`, ({ store, me }) => readMembers(store, me, group));
  const isCurrent = held !== undefined && membersVersion !== undefined && held.roster >= membersVersion;
  const isOutdated = held !== undefined && membersVersion !== undefined && !isCurrent;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` repeats the request
  useEffect(() => {
    const context = engine?.client.context.get();
    if (!context || !isOutdated || !isOnline) return;
    setFailure(undefined);
    let isStopped = false;
    let stop = () => {};
    import("#sync/inbound/member-loader.ts").then(
      ({ syncMemberListWithRetry }) => {
        if (!isStopped) stop = syncMemberListWithRetry(context, group, setFailure);
      },
      () => setFailure("offline"),
    );
    return () => {
      isStopped = true;
      stop();
    };
  }, [engine, group, membersVersion, held?.roster, isOutdated, isOnline, tries]);
  const refetch = useCallback(() => setTries((before) => before + 1), []);
  const state = isCurrent ? "ready" : failure !== undefined ? "failed" : "loading";
  const lastCurrent = useRef<{ group: ConversationId; members: MemberRow[] }>(undefined);
  if (isCurrent) lastCurrent.current = { group, members: held.members };
  const last = lastCurrent.current?.group === group ? lastCurrent.current.members : undefined;
  const members = last ?? (held && held.roster > 0 ? held.members : undefined);
  const areRolesKnown = last !== undefined;
  return { members, areRolesKnown, state, ...(failure === undefined ? {} : { code: failure }), refetch };
};
