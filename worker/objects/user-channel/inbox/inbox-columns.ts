import * as v from "valibot";
import { GroupCard } from "#contract/groups.ts";
import { privateMembers } from "#contract/ids.ts";
import { StoredBody } from "#contract/messages/body.ts";
import { Seq } from "#contract/messages/positions.ts";
import type { InboxEntry } from "./inbox-merge.ts";
import { fromPinnedColumn, toPinnedColumn } from "./pinned-list.ts";
import { PushMark } from "./push-mark.ts";

const Seqs = v.array(Seq);
const toSeqs = (stored: string | null) => (stored === null ? [] : v.parse(Seqs, JSON.parse(stored)));

/** Columns of the table `inbox`. */
export type InboxColumns = {
  handle: number;
  conversation: string;
  changed: number;
  bucket: number;
  epoch: string;
  head: number;
  at: number;
  sender: number;
  preview: string | null;
  whole: number;
  unread: number;
  mentions: string | null;
  counted: number;
  delivered: number;
  read: number;
  others_delivered: number;
  others_read: number;
  hidden: number;
  open: number;
  turn: number;
  muted: number;
  muted_until: number | null;
  muted_except_mentions: number;
  marked: number;
  archived: number;
  pinned_at: number | null;
  last_read_change: number;
  last_arrival_change: number;
  flags_revision: number;
  pinned_messages: string | null;
  kept: number;
  revision: number;
  card: string | null;
  gone: number;
  missed_calls: string | null;
  push_mark: string | null;
};

export const toInboxEntry = (row: InboxColumns): InboxEntry => ({
  handle: row.handle,
  conversation: row.conversation,
  kind: privateMembers(row.conversation) ? "private" : "group",
  epoch: row.epoch,
  head: row.head,
  at: row.at,
  sender: row.sender,
  preview: row.preview === null ? null : v.parse(StoredBody, JSON.parse(row.preview)),
  whole: row.whole === 1,
  unread: row.unread,
  mentions: toSeqs(row.mentions),
  delivered: row.delivered,
  read: row.read,
  othersDelivered: row.others_delivered,
  othersRead: row.others_read,
  hidden: row.hidden,
  open: row.open === 1,
  muted: row.muted === 1,
  mutedUntil: row.muted_until,
  mutedExceptMentions: row.muted_except_mentions === 1,
  marked: row.marked === 1,
  archived: row.archived === 1,
  pinnedAt: row.pinned_at,
  lastReadChange: row.last_read_change,
  lastArrivalChange: row.last_arrival_change,
  flagsRevision: row.flags_revision,
  ...fromPinnedColumn(row.pinned_messages),
  kept: row.kept === 1,
  revision: row.revision,
  group: row.card === null ? null : v.parse(GroupCard, JSON.parse(row.card)),
  gone: row.gone === 1,
  countedUpTo: row.counted,
  membershipVersion: row.turn,
  changed: row.changed,
  missedCalls: toSeqs(row.missed_calls),
  pushMark: row.push_mark === null ? null : v.parse(PushMark, JSON.parse(row.push_mark)),
});

/** Columns of frequent updates. Those with an index of their own and the other columns of a mute are excluded. */
export const updatedColumns = [
  "changed",
  "epoch",
  "head",
  "at",
  "sender",
  "preview",
  "whole",
  "unread",
  "mentions",
  "counted",
  "delivered",
  "read",
  "others_delivered",
  "others_read",
  "hidden",
  "open",
  "turn",
  "marked",
  "last_read_change",
  "last_arrival_change",
  "flags_revision",
  "pinned_messages",
  "kept",
  "revision",
  "card",
  "gone",
  "missed_calls",
  "push_mark",
] as const satisfies readonly (keyof InboxColumns)[];

/** Values of `updatedColumns`. */
export const toInboxColumns = (entry: InboxEntry): Pick<InboxColumns, (typeof updatedColumns)[number]> => ({
  changed: entry.changed,
  epoch: entry.epoch,
  head: entry.head,
  at: entry.at,
  sender: entry.sender,
  preview: entry.preview === null ? null : JSON.stringify(entry.preview),
  whole: entry.whole ? 1 : 0,
  unread: entry.unread,
  mentions: entry.mentions.length === 0 ? null : JSON.stringify(entry.mentions),
  counted: entry.countedUpTo,
  delivered: entry.delivered,
  read: entry.read,
  others_delivered: entry.othersDelivered,
  others_read: entry.othersRead,
  hidden: entry.hidden,
  open: entry.open ? 1 : 0,
  turn: entry.membershipVersion,
  marked: entry.marked ? 1 : 0,
  last_read_change: entry.lastReadChange,
  last_arrival_change: entry.lastArrivalChange,
  flags_revision: entry.flagsRevision,
  pinned_messages: toPinnedColumn(entry),
  kept: entry.kept ? 1 : 0,
  revision: entry.revision,
  card: entry.group === null ? null : JSON.stringify(entry.group),
  gone: entry.gone ? 1 : 0,
  missed_calls: entry.missedCalls.length === 0 ? null : JSON.stringify(entry.missedCalls),
  push_mark: entry.pushMark === null ? null : JSON.stringify(entry.pushMark),
});
