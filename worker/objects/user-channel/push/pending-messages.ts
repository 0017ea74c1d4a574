import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { pushConversationPauseMs, pushLifetimeSeconds } from "#contract/limits/push.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { PushMark } from "#worker/objects/user-channel/inbox/push-mark.ts";
import { toNotableEntry } from "./notable-messages.ts";
import type { PushSubscription } from "./subscription-table.ts";

type UnreadSources = { inbox: Pick<InboxFeed, "find">; relations: Pick<RelationTable, "isBlocked">; user: Uuid };

/** When something was last pushed, and when it last made itself heard; 0 for never. */
export type PushTimes = Pick<PushMark, "pushedAt" | "soundedAt">;

/** New messages of a conversation that not all devices know. Times are those of this object. */
export type PendingMessages = {
  firstAt: number;
  lastAt: number;
  /** Whether the newest arrived in quiet hours. */
  isHeld: boolean;
  /** Earliest time of another attempt after a failure, by session. */
  retryAt: Map<Uuid, number>;
  isSending: boolean;
  /**
   * Whether the inbox row is not written yet and will be with the mark of the push under way. Until then the
   * conversation repeats its notice if this instance dies, so no alarm is needed.
   */
  isWriteHeld: boolean;
  /** Author of the newest message in a group, if known. */
  author: { number: number; user: Uuid } | undefined;
  /** Times of the conversation before these messages. */
  before: PushTimes | undefined;
  /** Times of their pushes, by session: devices are due at different times, and each one sounds. */
  pushes: Map<Uuid, PushTimes>;
};

export const createPending = (at: number, isHeld = false): PendingMessages => ({
  firstAt: at,
  lastAt: at,
  isHeld,
  retryAt: new Map(),
  isSending: false,
  isWriteHeld: false,
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

/** Age up to which messages are pushed. */
export const pushLifetimeMs = pushLifetimeSeconds * 1_000;

/** After this time an alarm looks whether pushes were sent, in case the instance that sends them died. */
export const pushSendingMs = 3_000;

/**
 * Conversations with unread messages since a time that are not silenced, and the time of the newest. A row read costs a
 * thousandth of a row written, so it has no index.
 */
export const listUnread = (sql: SqlStorage, since: number): { conversation: ConversationId; at: number }[] =>
  sql
    .exec<{ conversation: ConversationId; at: number }>(
      `SELECT conversation, at FROM inbox
       WHERE unread > 0 AND at > ? AND gone = 0 AND (muted = 0 OR muted_until < at OR muted_except_mentions = 1)`,
      since,
    )
    .toArray();

/** The row of a conversation with unread messages that the person wants to be notified of. */
export const findUnread = (
  { inbox, relations, user }: UnreadSources,
  conversation: ConversationId,
): InboxEntry | undefined => {
  const entry = inbox.find(conversation);
  const other = otherMember(conversation, user);
  return !entry || (other !== undefined && relations.isBlocked(other)) ? undefined : toNotableEntry(entry, Date.now());
};

/** Heads that devices with a subscription know: those of a mark, or later ones. */
export const mergeHeads = (
  mark: PushMark,
  known: ReadonlyMap<Uuid, number>,
  devices: readonly PushSubscription[],
): PushMark["heads"] =>
  Object.fromEntries(
    devices
      .map(({ session }) => [session, Math.max(mark.heads[session] ?? 0, known.get(session) ?? 0)] as const)
      .filter(([, head]) => head > 0),
  );

export const toHeadOf =
  ({ head }: InboxEntry) =>
  ({ session }: PushSubscription): [Uuid, number] => [session, head];

/**
 * Whether a device that was notified up to a message has to be notified again. If only a deleted message follows, the
 * notification it shows is still right.
 */
export const isNewsFor = (known: number, { head, preview }: InboxEntry): boolean =>
  known < (preview?.type === "deleted" && known > 0 ? head - 1 : head);
