import type { CallBody } from "#contract/calls/call.ts";
import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { type CallDataUse, readCallDataUse } from "#sync/actions/call-data-use.ts";
import type { RecentCall } from "#sync/inbound/call-history.ts";
import { findCallEntry, listRecentCalls } from "#sync/queries/call-log.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { useLiveQuery } from "./use-live-query.ts";

/** Bytes used by calls on this device, by call id. */
export const useCallDataUse = (): CallDataUse | undefined =>
  useLiveQuery("call uses", ({ store }) => readCallDataUse(store));

/** Call entry of a call that ended a moment ago; undefined until it arrives. */
export const useCallEntry = (conversation: ConversationId, call: Uuid): CallBody | undefined =>
  useLiveQuery(`call ${conversation} ${call}`, ({ store }) => findCallEntry(store, conversation, call), false);

const recentCallsMax = 100;

/** Recent call and the other person, if this device knows them. */
export type ListedCall = RecentCall & { peer: Uuid; person: PersonRow | undefined };

/** Recent calls of all conversations, the newest first. */
export const useRecentCalls = (): ListedCall[] | undefined =>
  useLiveQuery("recent calls", async ({ store, me }) => {
    const calls = (await listRecentCalls(store, recentCallsMax)).flatMap((call) => {
      const peer = otherMember(call.conversation, me);
      return peer === undefined ? [] : { ...call, peer };
    });
    const people = await store.people.bulkGet(calls.map(({ peer }) => peer));
    return calls.map((call, index) => ({ ...call, key: call.body.id, person: people[index] }));
  });
