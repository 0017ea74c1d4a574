import type { Uuid } from "#contract/ids.ts";
import { pushConversationPauseMs } from "#contract/limits.ts";

/** When something was last pushed, and when it last made itself heard; 0 for never. */
export type PushTimes = { pushedAt: number; soundedAt: number };

/** New messages of a conversation that not all devices know. Times are those of this object. */
export type PendingMessages = {
  firstAt: number;
  lastAt: number;
  /** Earliest time of another attempt after a failure, by session. */
  retryAt: Map<Uuid, number>;
  isSending: boolean;
  /** Author of the newest message in a group, if known. */
  author: { number: number; user: Uuid } | undefined;
  /** Times of the conversation before these messages. */
  before: PushTimes | undefined;
  /** Times of their pushes, by session: devices are due at different times, and each one sounds. */
  pushes: Map<Uuid, PushTimes>;
};

export const createPending = (at: number): PendingMessages => ({
  firstAt: at,
  lastAt: at,
  retryAt: new Map(),
  isSending: false,
  author: undefined,
  before: undefined,
  pushes: new Map(),
});

/** Times of the last push of the conversation to a device. */
export const getPushTimes = ({ pushes, before }: PendingMessages, session: Uuid): PushTimes =>
  pushes.get(session) ?? before ?? { pushedAt: 0, soundedAt: 0 };

/** Time from which the conversation may be pushed to a device again. After the clock was set back, it is not longer. */
export const toPauseEnd = (pending: PendingMessages, session: Uuid, now: number): number =>
  Math.min(getPushTimes(pending, session).pushedAt, now) + pushConversationPauseMs;

/** After this time an alarm looks whether pushes were sent, in case the instance that sends them died. */
export const pushSendingMs = 3_000;
