import * as v from "valibot";

/**
 * What devices were notified of in a conversation: the newest message by session, the time of the last push, and of the
 * last one that made itself heard. By it an instance knows what its predecessors pushed.
 */
export const PushMark = v.object({
  heads: v.record(v.string(), v.number()),
  pushedAt: v.number(),
  soundedAt: v.number(),
});
export type PushMark = v.InferOutput<typeof PushMark>;

export const noPushMark: PushMark = { heads: {}, pushedAt: 0, soundedAt: 0 };
