import type { SecurityNotice } from "#contract/auth/security.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { KeptSettings, Settings } from "#contract/settings.ts";
import type { Notice, Standing } from "#worker/objects/rpc.ts";
import { GroupCommit } from "#worker/objects/shared/group-commit.ts";
import type { Meta } from "#worker/objects/shared/key-values.ts";
import {
  mineFrame,
  personFrame,
  rowFrame,
  sentFrame,
  settingsFrame,
} from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { changesOf, type Own, type Taken, takeMore, toNoticePush, toPush } from "./change-push.ts";
import { ChangeCounter } from "./change-sequence.ts";
import { readChanges, toInboxRow } from "./changes-query.ts";
import { PeopleTable } from "./contacts-table.ts";
import { type Entry, isOutdated, mergeNotice, mergeStanding, unseeing } from "./inbox-merge.ts";
import { Inbox } from "./inbox-table.ts";
import { Watches } from "./inflight-counts.ts";
import { OwnNotices } from "./security-notices.ts";
import { OwnSettings } from "./settings-copy.ts";
import { Holding } from "./write-behind.ts";

/** A notice as it came: by itself, or in the answer to what this person's own sockets sent (`own`). */
type Taking = { notice: Notice; own?: readonly Own[] };
/** Whether the row needs an exact count, and whether what it says of messages stands written. */
type Took = { isInexact: boolean; isWritten: boolean };

/**
 * A person's inbox and whatever else their devices follow: each change is pushed to every socket under the next number
 * of the person's counter, and is written under it.
 */
export class Feed {
  readonly #ctx: DurableObjectState;
  readonly #sockets: Sockets;
  readonly #inbox: Inbox;
  readonly #people: PeopleTable;
  readonly #settings: OwnSettings;
  readonly #notices: OwnNotices;
  readonly #watches = new Watches();
  readonly #takes = new GroupCommit<Taking, Took>((batch) => this.#takeAll(batch));
  readonly #counter: ChangeCounter;
  readonly #holding: Holding;

  constructor(ctx: DurableObjectState, meta: Meta, sockets: Sockets) {
    this.#ctx = ctx;
    this.#sockets = sockets;
    this.#inbox = new Inbox(ctx.storage);
    this.#people = new PeopleTable(ctx.storage.sql, ctx.id.name ?? "");
    this.#settings = new OwnSettings(meta);
    this.#notices = new OwnNotices(meta);
    const changed = Math.max(this.#settings.changed, this.#notices.changed);
    this.#counter = new ChangeCounter(ctx, meta, sockets, changed);
    this.#holding = new Holding(this.#inbox, this.#counter, sockets);
  }

  get epoch(): string {
    return this.#counter.epoch;
  }

  get counter(): number {
    return this.#counter.value;
  }

  get settings(): Settings {
    return this.#settings.current;
  }

  find(conversation: ConversationId): Entry | undefined {
    return this.#inbox.find(conversation);
  }

  findByHandle(handle: number): Entry | undefined {
    return this.#inbox.findByHandle(handle);
  }

  /** What changed after a cursor, as a device of this session is to hear it. A cursor that this inbox never gave out means everything. */
  changes(since: number, session: Uuid | undefined, before = Number.MAX_SAFE_INTEGER) {
    this.flush();
    this.#counter.writeFloor();
    const counter = this.#counter.value;
    const from = this.#counter.isKnown(since) ? since : 0;
    const page =
      from === counter
        ? { rows: [], people: [], before: null }
        : readChanges(this.#ctx.storage.sql, this.#people, from, Math.min(before, counter + 1));
    const now = Date.now();
    const settings = this.#settings.since(from);
    const notices = this.#notices.since(from, session, now);
    return { epoch: this.epoch, counter, since: from, now, ...page, settings, notices };
  }

  /** Reads the tables, with what was held back in them. */
  read<T>(read: (sql: SqlStorage) => T): T {
    this.flush();
    return read(this.#ctx.storage.sql);
  }

  /**
   * Takes in what a conversation says: at once, or together with what else comes within `groupCommitMs` of the
   * last time. Messages are pushed before they are written, for until a notice is confirmed the conversation
   * counts it as not told; and what this person's own sockets sent (`own`) is acknowledged before it is written
   * here, for the log has it, and the conversation tells again what nobody confirmed. So is what others say in a
   * group while devices listen: its row is written once for all that comes within `markHoldMs`.
   */
  take(notice: Notice, own?: readonly Own[]): Promise<Took> {
    return this.#takes.add(own ? { notice, own } : { notice });
  }

  /** Asks a conversation where the person stands there, and takes in the answer. `kept` is what the row says from then on. */
  async stand<T extends object>(
    conversation: ConversationId,
    ask: () => Promise<Standing | T>,
    isStanding: (answer: Standing | T) => answer is Standing,
    kept?: boolean,
  ): Promise<{ entry: Entry | undefined; isInexact: boolean; standing: Standing } | T> {
    const arrivals = this.#watches.begin(conversation);
    try {
      const standing = await ask();
      if (!isStanding(standing)) return standing;
      const before = this.#inbox.find(conversation);
      if (!before) return { entry: before, isInexact: false, standing };
      const isOfRow = standing.epoch === before.epoch && !before.gone;
      const merged = {
        ...mergeStanding(before, standing, arrivals),
        kept: (isOfRow ? kept : undefined) ?? before.kept,
      };
      if (standing.unread !== undefined) this.#watches.counted(conversation, arrivals);
      return { entry: this.#settle(before, merged), isInexact: isOutdated(before, standing), standing };
    } finally {
      this.#watches.end(conversation, arrivals);
    }
  }

  /** False when there is no such row. */
  mute(conversation: ConversationId, muted: boolean): boolean {
    const before = this.#inbox.find(conversation);
    if (!before || before.gone || before.muted === muted) return before?.gone === false;
    const entry = { ...before, muted, changed: this.#counter.next };
    this.#inbox.mute(entry);
    this.#counter.push([toPush((counter, base) => rowFrame(counter, toInboxRow(entry), base))]);
    return true;
  }

  /** Whether this person lets nothing of that one through. */
  isBlocked(user: Uuid): boolean {
    return this.#people.isBlocked(user);
  }

  /** Takes in how people stand to this person. */
  relate(relations: readonly Relation[]): void {
    const news = relations.filter((relation) => !this.#people.has(relation));
    const first = this.#counter.next;
    this.#counter.push(news.map((relation) => toPush((counter, base) => personFrame(counter, relation, base))));
    this.#ctx.storage.transactionSync(() => {
      for (const [index, relation] of news.entries()) this.#people.write(relation, first + index);
    });
  }

  /** Takes in how this person wants things. */
  configure(kept: KeptSettings): void {
    if (!this.#settings.isNews(kept)) return;
    this.#settings.write(kept, this.#counter.next);
    this.#counter.push([toPush((counter, base) => settingsFrame(counter, kept, base))]);
  }

  /** Takes in what became of the person's account. */
  warn(notice: SecurityNotice): void {
    if (!this.#notices.isNews(notice)) return;
    this.#notices.write(notice, this.#counter.next);
    this.#counter.push([toNoticePush(notice)]);
  }

  /** The last of it is written: nothing comes in any more. */
  close(): void {
    this.flush();
    this.#inbox.close();
  }

  /** Writes what was held back. */
  flush(): void {
    this.#holding.flush();
  }

  #takeAll(batch: readonly Taking[]): Took[] {
    const inexact = new Set<Taking>();
    for (const takings of Map.groupBy(batch, ({ notice }) => notice.conversation).values()) {
      for (const taking of this.#takeTogether(takings)) inexact.add(taking);
    }
    const isWritten = ({ notice }: Taking) => !this.#inbox.isAhead(this.#inbox.find(notice.conversation)?.handle ?? 0);
    return batch.map((taking) => ({ isInexact: inexact.has(taking), isWritten: isWritten(taking) }));
  }

  /** Notices of one conversation in their order, told as one change wherever they are one. Returns the inexact ones. */
  #takeTogether(takings: readonly Taking[]): Taking[] {
    const inexact: Taking[] = [];
    let taken: Taken | undefined;
    for (const taking of takings) {
      const { notice, own = [] } = taking;
      const before = taken?.entry ?? this.#inbox.find(notice.conversation);
      const seen = this.settings.receipts ? notice : unseeing(before, notice);
      const merge = mergeNotice(before, before?.handle ?? this.#inbox.nextHandle, seen);
      this.#watches.tell(notice, merge);
      if (merge.isInexact) inexact.push(taking);
      // A row that is told as a whole, or a change to its messages: what comes beside it is told before or after it.
      if (taken && (taken.isRowNew || taken.revised || merge.isRowNew)) {
        this.#tell(taken);
        taken = undefined;
      }
      taken = takeMore(taken, merge, own);
    }
    if (taken) this.#tell(taken);
    const isAwaited = takings.some(({ own }) => own === undefined);
    const mayWait = taken?.entry.group && taken.news.length > 0;
    if (isAwaited && taken && !mayWait && this.#inbox.isAhead(taken.entry.handle)) this.flush();
    return inexact;
  }

  /** Tells the sockets what changed in a row. A new row is written first, for its handle must never be another's. */
  #tell(taken: Taken): void {
    const { entry, news, own, isRowNew } = taken;
    const changes = changesOf(taken);
    const known = this.#inbox.find(entry.conversation);
    const row = {
      ...entry,
      changed: changes.length > 0 ? this.#counter.value + changes.length : (known?.changed ?? 0),
    };
    // Devices drop what they have of a conversation that is gone: what was stored there before is acknowledged first.
    const again = own.filter(({ outgoing }) => !news.some(({ cid }) => cid === outgoing.cid));
    if (entry.gone) this.#acknowledgeAgain(again);
    if (isRowNew) this.#inbox.write(row);
    this.#counter.push(changes);
    if (!isRowNew && (changes.length > 0 || entry.counted !== known?.counted)) this.#holding.hold(row);
    if (!entry.gone) this.#acknowledgeAgain(again);
  }

  #settle(before: Entry, merged: Entry): Entry {
    const isHidden = merged.hidden !== before.hidden || merged.kept !== before.kept;
    const isMarked = merged.delivered !== before.delivered || merged.read !== before.read;
    const hasChanged = isHidden || isMarked || merged.unread !== before.unread;
    const entry = hasChanged ? { ...merged, changed: this.#counter.next } : merged;
    if (isHidden) this.#inbox.write(entry);
    else if (hasChanged || merged.counted !== before.counted) this.#holding.hold(entry);
    if (hasChanged) {
      this.#counter.push([
        toPush((counter, base) =>
          isHidden ? rowFrame(counter, toInboxRow(entry), base) : mineFrame(counter, entry, base),
        ),
      ]);
    }
    return entry;
  }

  /** What was in the row before this call is acknowledged under the counter as it stands. */
  #acknowledgeAgain(own: readonly Own[]): void {
    for (const socket of new Set(own.map(({ outgoing }) => outgoing.source))) {
      const sent = own.filter(({ outgoing }) => outgoing.source === socket);
      if (socket?.state) this.#sockets.answer(socket, sentFrame(this.#counter.value, sent, socket.state.base));
    }
  }
}
