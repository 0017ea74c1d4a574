import type { Uuid } from "#contract/ids.ts";

/** New messages of a conversation that not all devices know. Times are those of this object. */
export type PendingMessages = {
  firstAt: number;
  lastAt: number;
  /** Earliest time of another attempt after a failure, by session. */
  retryAt: Map<Uuid, number>;
  isSending: boolean;
  /** Author of the newest message in a group, if known. */
  author: { number: number; user: Uuid } | undefined;
};

export const createPending = (at: number): PendingMessages => ({
  firstAt: at,
  lastAt: at,
  retryAt: new Map(),
  isSending: false,
  author: undefined,
});

/** After this time an alarm looks whether pushes were sent, in case the instance that sends them died. */
export const pushSendingMs = 3_000;
