import { useEffect, useRef } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { listUnknownMembers, readMemberProfiles } from "#sync/store/members.ts";
import type { MemberProfiles } from "#sync/store/view-models.ts";
import { useEngine, useLiveQuery } from "./use-live-query.ts";

const noProfilesYet: MemberProfiles = {};

/** Profiles of group members by member number. Unknown members are fetched. */
export const useMemberProfiles = (group: ConversationId | undefined, numbers: readonly number[]): MemberProfiles => {
  const key = `${group} ${numbers.join()}`;
  const engine = useEngine();
  const known = useLiveQuery(group && `authors ${key}`, ({ store, me }) =>
    readMemberProfiles(store, me, group ?? "", numbers),
  );
  const last = useRef(noProfilesYet);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the group and the numbers
  useEffect(() => {
    const context = engine?.client.context.get();
    if (!context || !group || !known) return;
    void listUnknownMembers(context, group, numbers).then(
      (unknown) => engine?.client.memberLoader.requestMembers(group, unknown),
      () => {},
    );
  }, [engine, key, known]);
  // Keep the previous profiles while more are read.
  if (known) last.current = known;
  return known ?? last.current;
};
