import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { type CallDataUse, readCallDataUse } from "#sync/calls/call-data-use.ts";
import { findCallEntry } from "#sync/calls/call-log.ts";
import { useLiveQuery } from "./use-live-query.ts";

/** Bytes used by calls on this device, by call id. */
export const useCallDataUse = (): CallDataUse | undefined =>
  useLiveQuery("call uses", ({ store }) => readCallDataUse(store));

/** Call entry of a call that ended a moment ago; undefined until it arrives. */
export const useCallEntry = (conversation: ConversationId, call: Uuid): CallBody | undefined =>
  useLiveQuery(`call ${conversation} ${call}`, ({ store }) => findCallEntry(store, conversation, call), false);
