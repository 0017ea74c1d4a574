import type { SecurityNotice } from "#contract/auth/security.ts";
import type { InboxRow, Message } from "#contract/conversations.ts";
import { type Base, encodeFrame, type ServerFrame } from "#contract/wire/server-frames.ts";
import type { Outgoing, Sent } from "#worker/objects/user-channel/commands/send-queue.ts";
import {
  messagesPush,
  mineFrame,
  noticeFrame,
  othersFrame,
  revisedFrame,
  rowFrame,
  sentFrame,
} from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { Push, Socket } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { toInboxRow } from "./changes-query.ts";
import type { Merge } from "./inbox-merge.ts";
import { isFor } from "./security-notices.ts";

/** A message that this person sent through this object, with its place. */
export type Own = { outgoing: Outgoing<Socket>; place: Sent };

/** What notices of one conversation that came together make of its row. */
export type Taken = Pick<Merge, "entry" | "news" | "revised" | "isRowNew" | "isMineMoved" | "isOthersMoved"> & {
  own: readonly Own[];
};

/** What was taken so far, and one notice more. */
export const takeMore = (taken: Taken | undefined, merge: Merge, own: readonly Own[]): Taken => ({
  entry: merge.entry,
  news: [...(taken?.news ?? []), ...merge.news],
  own: [...(taken?.own ?? []), ...own],
  revised: merge.revised,
  isRowNew: merge.isRowNew,
  isMineMoved: merge.isMineMoved || (taken?.isMineMoved ?? false),
  isOthersMoved: merge.isOthersMoved || (taken?.isOthersMoved ?? false),
});

/** One change of the inbox as a socket is told of it. */
export type ToPush = (counter: number, socket: Socket, base: Base) => Push;

const small = (frame: ServerFrame): Push => ({ frame: encodeFrame(frame), messages: 0 });

/** The same words for all sockets of one base. */
const oncePerBase = <T>(make: (counter: number, base: Base) => T): ((counter: number, base: Base) => T) => {
  let last: { counter: number; base: Base; made: T } | undefined;
  return (counter, base) => {
    const isSame = last?.counter === counter && last.base.counter === base.counter && last.base.now === base.now;
    if (!last || !isSame) last = { counter, base, made: make(counter, base) };
    return last.made;
  };
};

/** A change that every socket is told of in the same way. */
export const toPush = (toFrame: (counter: number, base: Base) => ServerFrame): ToPush => {
  const made = oncePerBase((counter, base) => small(toFrame(counter, base)));
  return (counter, _socket, base) => made(counter, base);
};

/** What became of the account, to every socket but those of the session that did it: they hear only that it has a number. */
export const toNoticePush = (notice: SecurityNotice): ToPush => {
  const told = oncePerBase((counter, base) => small(noticeFrame(counter, notice, base)));
  return (counter, { state }, base) =>
    isFor(notice, state?.session) ? told(counter, base) : small(noticeFrame(counter, null, base));
};

/** New messages: a socket that sent some of them hears where those stand, the rest it gets whole like all others. */
const toNewsPush = (row: InboxRow, news: readonly Message[], own: readonly Own[]): ToPush => {
  const cids = new Set(news.map(({ cid }) => cid));
  const isNew = own.filter(({ outgoing }) => outgoing.source && cids.has(outgoing.cid));
  const bySource = Map.groupBy(isNew, ({ outgoing }) => outgoing.source?.id);
  const whole = oncePerBase((counter, base) => messagesPush(counter, row, news, [], base));
  return (counter, socket, base) => {
    const sent = bySource.get(socket.id);
    if (!sent) return whole(counter, base);
    const sentCids = new Set(sent.map(({ outgoing }) => outgoing.cid as string | undefined));
    const others = news.filter(({ cid }) => !sentCids.has(cid));
    return others.length > 0 ? messagesPush(counter, row, others, sent, base) : small(sentFrame(counter, sent, base));
  };
};

/** What the devices are told of a row, a number for each. */
export const changesOf = ({ entry, news, own, revised, isRowNew, isMineMoved, isOthersMoved }: Taken): ToPush[] => {
  const row = toInboxRow(entry);
  const changes = news.length > 0 ? [toNewsPush(row, news, own)] : [];
  if (revised) changes.push(toPush((counter, base) => revisedFrame(counter, row, revised, base)));
  if (isRowNew) return [...changes, toPush((counter, base) => rowFrame(counter, row, base))];
  if (isMineMoved) changes.push(toPush((counter, base) => mineFrame(counter, entry, base)));
  if (isOthersMoved) changes.push(toPush((counter, base) => othersFrame(counter, row, base)));
  return changes;
};
