import type { ChangesResult, ListPage } from "../../contract/commands";
import type { Message } from "../../contract/conversations";
import type { ConversationId, Uuid } from "../../contract/ids";
import { markHoldMs } from "../../contract/limits";
import type { Relation } from "../../contract/people";
import { encodeFrame, pingFrame, pongFrame, type ServerFrame } from "../../contract/protocol";
import { readChanges, readCounterBound, readList, readMutes, toInboxRow } from "./changes";
import { messagesPush, mineFrame, othersFrame, personFrame, revisedFrame, rowFrame, sentFrame } from "./frames";
import { Inbox } from "./inbox";
import { type Arrivals, type Entry, isOutdated, isToRead, type Merge, mergeNotice, mergeStanding } from "./inbox-rules";
import { PeopleTable } from "./people-table";
import type { Notice, Standing } from "./rpc";
import type { Outgoing, Sent } from "./send-queue";
import type { Base, Push, Socket, Sockets } from "./sockets";

/** More changes than can be pushed and not yet be written when an object dies (they are held `markHoldMs`). */
const counterReserve = 1_024;

/** A message that this person sent through this object, with its place. */
export type Own = { outgoing: Outgoing<Socket>; place: Sent };

/** One change of the inbox as a socket is told of it. */
type ToPush = (counter: number, socket: Socket, base: Base) => Push;
/** New messages that the same socket sent, or nobody here did. */
type Run = { source: Socket | undefined; messages: Message[] };

const small = (frame: ServerFrame): Push => ({ frame: encodeFrame(frame), messages: 0 });

/** Where the counter of a new life starts: at nothing only in the very first. */
const beyondEveryTold = (sql: SqlStorage, floor: string | undefined): number => {
  const written = Math.max(readCounterBound(sql), Number(floor ?? 0));
  return floor === undefined && written === 0 ? 0 : written + counterReserve;
};

const runsOf = (news: readonly Message[], own: readonly Own[]): Run[] => {
  const sources = new Map(own.map(({ outgoing }) => [outgoing.cid, outgoing.source]));
  const runs: Run[] = [];
  for (const message of news) {
    const source = message.cid === undefined ? undefined : sources.get(message.cid);
    const last = runs.at(-1);
    if (last && last.source === source) last.messages.push(message);
    else runs.push({ source, messages: [message] });
  }
  return runs;
};

/**
 * A person's inbox and its change counter: whatever changes gets the next number, is pushed to every socket
 * under it, and is written under it. After a restart the counter goes on beyond every number that was ever
 * told, so that none is told twice.
 */
export class Feed {
  readonly epoch: string;
  readonly #ctx: DurableObjectState;
  readonly #sockets: Sockets;
  readonly #inbox: Inbox;
  readonly #people: PeopleTable;
  readonly #watches = new Map<ConversationId, Set<Arrivals>>();
  #counter: number;
  #isFloorWritten: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ctx: DurableObjectState, sockets: Sockets) {
    this.#ctx = ctx;
    this.#sockets = sockets;
    this.#inbox = new Inbox(ctx.storage);
    this.#people = new PeopleTable(ctx.storage.sql);
    const meta = new Map(
      ctx.storage.sql
        .exec<{ key: string; value: string }>("SELECT key, value FROM meta")
        .toArray()
        .map((row) => [row.key, row.value]),
    );
    this.epoch = meta.get("epoch") ?? crypto.randomUUID().slice(0, 8);
    if (!meta.has("epoch")) this.#setMeta("epoch", this.epoch);
    // Sockets that outlived the instance were told of every change there was.
    const { lastCounter } = sockets;
    this.#isFloorWritten = lastCounter !== undefined;
    this.#counter = lastCounter ?? beyondEveryTold(ctx.storage.sql, meta.get("floor"));
    this.#announce();
  }

  get counter(): number {
    return this.#counter;
  }

  find(conversation: ConversationId): Entry | undefined {
    return this.#inbox.find(conversation);
  }

  findByHandle(handle: number): Entry | undefined {
    return this.#inbox.findByHandle(handle);
  }

  /** What changed after a cursor. A cursor that this inbox never gave out means everything. */
  changes(since: number, before = Number.MAX_SAFE_INTEGER): ChangesResult {
    this.flush();
    this.#writeFloor();
    const from = since > this.#counter ? 0 : since;
    const page =
      from === this.#counter
        ? { rows: [], people: [], before: null }
        : readChanges(this.#ctx.storage.sql, from, Math.min(before, this.#counter + 1));
    return { epoch: this.epoch, counter: this.#counter, now: Date.now(), ...page };
  }

  list(before = Number.MAX_SAFE_INTEGER): ListPage {
    this.flush();
    return readList(this.#ctx.storage.sql, before);
  }

  /**
   * Takes in what a conversation says. Messages that others wrote are pushed before they are written, for
   * until this returns the conversation counts them as not told. What the person's own sockets sent (`own`)
   * is written first: its acknowledgement goes out with the push. True when the row needs an exact count.
   */
  take(notice: Notice, own: readonly Own[] = []): boolean {
    const before = this.#inbox.find(notice.conversation);
    const merge = mergeNotice(before, before?.handle ?? this.#inbox.nextHandle, notice);
    this.#tellWatches(notice, merge);
    const changes = this.#changesOf(merge, own);
    const entry = { ...merge.entry, changed: this.#counter + changes.length };
    if (changes.length > 0) {
      const isMarksOnly = merge.news.length === 0 && !merge.isRowNew && !merge.revised;
      if (own.length > 0) this.#inbox.write(entry);
      this.#pushAll(changes);
      if (own.length === 0) {
        if (isMarksOnly) this.#hold(entry);
        else this.#inbox.write(entry);
      }
    } else if (before && entry.counted !== before.counted) {
      this.#hold({ ...entry, changed: before.changed });
    }
    const news = new Set(merge.news.map(({ cid }) => cid));
    this.#acknowledgeAgain(own.filter(({ outgoing }) => !news.has(outgoing.cid)));
    return merge.isInexact;
  }

  /** Asks a conversation where the person stands there, and takes in the answer. `kept` is what the row says from then on. */
  async stand<T extends object>(
    conversation: ConversationId,
    ask: () => Promise<Standing | T>,
    isStanding: (answer: Standing | T) => answer is Standing,
    kept?: boolean,
  ): Promise<{ entry: Entry | undefined; isInexact: boolean; standing: Standing } | T> {
    const watches = this.#watches.get(conversation) ?? new Set<Arrivals>();
    const arrivals: Arrivals = { seqs: [], isOvertaken: false };
    this.#watches.set(conversation, watches.add(arrivals));
    try {
      const standing = await ask();
      if (!isStanding(standing)) return standing;
      const before = this.#inbox.find(conversation);
      if (!before) return { entry: before, isInexact: false, standing };
      const isOfRow = standing.epoch === before.epoch;
      const merged = {
        ...mergeStanding(before, standing, arrivals),
        kept: (isOfRow ? kept : undefined) ?? before.kept,
      };
      if (standing.unread !== undefined) for (const other of watches) other.isOvertaken ||= other !== arrivals;
      return { entry: this.#settle(before, merged), isInexact: isOutdated(before, standing), standing };
    } finally {
      watches.delete(arrivals);
      if (watches.size === 0) this.#watches.delete(conversation);
    }
  }

  /** False when there is no such row. */
  mute(conversation: ConversationId, muted: boolean): boolean {
    const before = this.#inbox.find(conversation);
    if (!before || before.muted === muted) return before !== undefined;
    const entry = { ...before, muted, changed: this.#counter + 1 };
    this.#inbox.mute(entry);
    this.#pushAll([(counter, _socket, base) => small(rowFrame(counter, toInboxRow(entry), base))]);
    return true;
  }

  /** The conversations that are muted, those that changed last first. */
  mutes(): ConversationId[] {
    this.flush();
    return readMutes(this.#ctx.storage.sql);
  }

  /** Whether this person lets nothing of that one through. */
  isBlocked(user: Uuid): boolean {
    return this.#people.isBlocked(user);
  }

  /** Takes in how people stand to this person. */
  relate(relations: readonly Relation[]): void {
    const news = relations.filter((relation) => !this.#people.has(relation));
    const first = this.#counter + 1;
    this.#pushAll(news.map((relation) => (counter, _socket, base) => small(personFrame(counter, relation, base))));
    this.#ctx.storage.transactionSync(() => {
      for (const [index, relation] of news.entries()) this.#people.write(relation, first + index);
    });
  }

  /** Writes what was held back. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#inbox.flush();
  }

  #settle(before: Entry, merged: Entry): Entry {
    const isHidden = merged.hidden !== before.hidden || merged.kept !== before.kept;
    const isMarked =
      merged.delivered !== before.delivered || merged.read !== before.read || merged.unread !== before.unread;
    const hasChanged = isHidden || isMarked;
    const entry = hasChanged ? { ...merged, changed: this.#counter + 1 } : merged;
    if (isHidden) this.#inbox.write(entry);
    else if (hasChanged || merged.counted !== before.counted) this.#hold(entry);
    if (hasChanged) {
      this.#pushAll([
        (counter, _socket, base) =>
          small(isHidden ? rowFrame(counter, toInboxRow(entry), base) : mineFrame(counter, entry, base)),
      ]);
    }
    return entry;
  }

  /** The changes that a notice makes, each of which gets a number. */
  #changesOf(merge: Merge, own: readonly Own[]): ToPush[] {
    const row = toInboxRow(merge.entry);
    const changes = runsOf(merge.news, own).map(({ source, messages }): ToPush => {
      const cids = new Set(messages.map(({ cid }) => cid));
      return (counter, socket, base) => {
        if (!source || socket.id !== source.id) return messagesPush(counter, row, messages, base);
        const sent = own.filter(({ outgoing }) => outgoing.source?.id === source.id && cids.has(outgoing.cid));
        return small(sentFrame(counter, sent, base));
      };
    });
    const { revised } = merge;
    if (revised) changes.push((counter, _socket, base) => small(revisedFrame(counter, row, revised, base)));
    if (merge.isRowNew) return [...changes, (counter, _socket, base) => small(rowFrame(counter, row, base))];
    if (merge.isMineMoved) changes.push((counter, _socket, base) => small(mineFrame(counter, row, base)));
    if (merge.isOthersMoved) changes.push((counter, _socket, base) => small(othersFrame(counter, row, base)));
    return changes;
  }

  #pushAll(changes: readonly ToPush[]): void {
    for (const toPush of changes) {
      this.#counter += 1;
      const counter = this.#counter;
      this.#sockets.push(counter, (socket, base) => toPush(counter, socket, base));
    }
    if (changes.length > 0) this.#announce();
  }

  /** What was in the row before this call is acknowledged under the counter as it stands. */
  #acknowledgeAgain(own: readonly Own[]): void {
    for (const socket of new Set(own.map(({ outgoing }) => outgoing.source))) {
      const sent = own.filter(({ outgoing }) => outgoing.source === socket);
      if (socket?.state) this.#sockets.answer(socket, sentFrame(this.#counter, sent, socket.state.base));
    }
  }

  #tellWatches(notice: Notice, merge: Merge): void {
    for (const arrivals of this.#watches.get(notice.conversation) ?? []) {
      arrivals.seqs.push(...merge.news.filter(isToRead).map(({ seq }) => seq));
      if (notice.unread !== undefined || (merge.isRowNew && merge.news.length === 0)) arrivals.isOvertaken = true;
    }
  }

  #hold(entry: Entry): void {
    this.#inbox.hold(entry);
    this.#timer ??= setTimeout(() => {
      try {
        this.flush();
      } catch (error) {
        console.error("held marks could not be written", error);
      }
    }, markHoldMs);
  }

  /** Devices hear the counter in every pong, so that one which missed the last change learns of it. */
  #announce(): void {
    this.#ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(pingFrame, pongFrame(this.#counter)));
  }

  /** Before a device first hears of the counter in this instance's life, the place it started from is kept. */
  #writeFloor(): void {
    if (this.#isFloorWritten) return;
    this.#isFloorWritten = true;
    this.#setMeta("floor", String(this.#counter));
  }

  #setMeta(key: string, value: string): void {
    this.#ctx.storage.sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", key, value);
  }
}
