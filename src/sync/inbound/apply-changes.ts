import type { SecurityNotice } from "#contract/auth/security.ts";
import { type InboxRow, type Message, mergeMarks } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { KeptSettings } from "#contract/settings.ts";
import type { PageResult } from "#contract/wire/commands.ts";
import type { ConversationRow, Store } from "#sync/store/database.ts";
import { takeProfile } from "#sync/store/own-profile-row.ts";
import { otherNumber, ownMessage, raiseOthers, toPersonRow } from "#sync/store/row-mapping.ts";
import { keepNotice } from "#sync/store/security-notice-rows.ts";
import { takeKept, updateSettings } from "#sync/store/settings-rows.ts";
import { type Cursor, readCursor, withHole, writeCursor } from "#sync/store/sync-cursor.ts";
import { applyPage } from "./apply-page.ts";
import { Workspace } from "./apply-transaction.ts";
import { findOther, markForked } from "./log-forks.ts";
import type { PageAsked } from "./page-request.ts";

type Of = number | ConversationId; // the handle, or the id itself

/** Everything that can be learned from the server, in one form for all carriers. Each may come twice. */
export type Change =
  /** `isAnew`: in an answer that says everything as it is now, also where the server knows less than this device. */
  | { type: "row"; row: InboxRow; isAnew?: boolean }
  | { type: "messages"; of: Of; messages: Message[] }
  | { type: "live"; of: Of; seq: number; at: number; text: string } // from the other of two
  | { type: "others"; of: Of; delivered: number; read: number }
  /** `unread` counts up to `head`. */
  | { type: "mine"; of: Of; delivered: number; read: number; unread: number; head: number }
  | { type: "head"; of: Of; head: number }
  | { type: "person"; relation: Relation }
  | { type: "settings"; kept: KeptSettings }
  | { type: "notice"; notice: SecurityNotice }
  /** The answer to a change of one's own, asked for when the server had told of that person so often. */
  | { type: "standing"; relation: Relation; told: number }
  | { type: "sent"; conversation: ConversationId; epoch?: string; cid: Uuid; seq: number; at: number }
  | { type: "page"; asked: PageAsked; page: PageResult }
  /** Messages that were changed after the revision `since`, as they are now. */
  | { type: "changed"; of: Of; epoch?: string; since: number; revision: number; messages: Message[] }
  /** Answers to changes of one's own, asked for when the server had told of that conversation so often. */
  | { type: "hidden"; conversation: ConversationId; upTo: number; keep: boolean; told: number }
  | { type: "muted"; conversation: ConversationId; muted: boolean; told: number }
  /** Stands before the rows it speaks for. `isAnew`: with those of another inbox, or an earlier copy, the handles go. */
  | { type: "cursor"; move: (cursor: Cursor) => Cursor; isAnew?: boolean }
  /** The answer to a question for changes, asked when the cursor stood at `asked`. */
  | {
      type: "answer";
      asked: number;
      epoch: string;
      counter: number;
      move: (cursor: Cursor) => Cursor;
      isAnew?: boolean;
      changes: readonly Change[];
    };

export type Applied = {
  rows: ConversationRow[];
  reset: ConversationId[];
  doubtful: ConversationId[];
  stored: Uuid[];
  /** Files whose messages are gone. */
  dropped: Uuid[];
  /** Groups and people whose pictures nothing shows any more. */
  unseen: ReadonlySet<Uuid>;
  /** Something is to be sent, or deleted, once more. */
  hasResent: boolean;
  cursor: Cursor;
};

const applySent = async (work: Workspace, change: Extract<Change, { type: "sent" }>): Promise<void> => {
  const row = await work.row(change.conversation);
  const { seq, at, cid, epoch } = change;
  const isElsewhere = epoch !== undefined && row.epoch !== "" && row.epoch !== epoch;
  const told = { seq, at, cid, sender: ownMessage(row, work.me, { cid, seq, at, body: { type: "deleted" } }).sender };
  // It stays in the outbox until the log it stands in is here.
  if (!row.gone && (row.forked || isElsewhere || (await findOther(work.store, row, [told]))))
    return markForked(work, row, seq);
  const unsent = await work.store.outbox.get(change.cid);
  work.stored.push(change.cid);
  if (row.gone) {
    await work.store.outbox.delete(change.cid);
    if (unsent) work.drop(unsent);
  } else if (!unsent) {
    // Deleted while it was under way: what stands there is fetched.
    row.head = Math.max(row.head, change.seq);
  } else await work.addMessages(row, [ownMessage(row, work.me, { ...change, body: unsent.body })]);
  await work.advance(row);
};

/** What was told since the question may be newer than its answer; what is newer than that is told as well. */
const isUntold = (row: ConversationRow, told: number): boolean => (row.told ?? 0) === told;

const applyHidden = async (
  work: Workspace,
  { conversation, upTo, keep, told }: Extract<Change, { type: "hidden" }>,
): Promise<void> => {
  const row = await work.row(conversation);
  if (row.gone) return;
  if (isUntold(row, told)) row.kept = keep;
  if (upTo <= row.hidden) return;
  row.hidden = upTo;
  await work.dropHidden(row);
  row.unread = row.head > upTo ? row.unread : 0;
};

const applyLive = async (
  work: Workspace,
  row: ConversationRow,
  { seq, at, text }: Extract<Change, { type: "live" }>,
): Promise<void> => {
  if (seq <= row.hi) return;
  await work.addMessages(row, [{ seq, at, sender: otherNumber(row.id, work.me), body: { type: "text", text } }]);
  await work.advance(row);
};

const toldIn = (work: Workspace, row: ConversationRow, change: Extract<Change, { of: Of }>) => {
  if (change.type === "messages") return change.messages;
  const sender = otherNumber(row.id, work.me);
  return change.type === "live" ? [{ seq: change.seq, at: change.at, sender }] : [];
};

/** Whether a message came for a place where another one is held. */
const isOfAnotherLog = (work: Workspace, row: ConversationRow, change: Extract<Change, { of: Of }>): Promise<boolean> =>
  findOther(work.store, row, toldIn(work, row, change));

/** Until the log is here that it belongs to, what is told of it is kept in the row that was told with it. */
const noteForked = (work: Workspace, row: ConversationRow, change: Extract<Change, { of: Of }>): void => {
  const told = toldIn(work, row, change).map(({ seq }) => seq);
  if (!row.forked || told.length > 0) markForked(work, row, Math.max(0, ...told));
  if (row.forked && change.type === "mine") {
    const { delivered, read, unread, head } = change;
    row.forked.mine = { delivered, read, unread, head };
  }
  const { row: inbox } = row.forked ?? {};
  if (inbox && change.type === "others") {
    const others = mergeMarks({ delivered: inbox.othersDelivered, read: inbox.othersRead }, change);
    Object.assign(inbox, { othersDelivered: others.delivered, othersRead: others.read });
  }
};

/** One change to a conversation named by a handle or an id; false when this device has not heard of it. */
const applyToKnown = async (work: Workspace, change: Extract<Change, { of: Of }>): Promise<boolean> => {
  const row = await work.rowOf(change.of);
  if (!row) return false;
  if (row.gone) return true; // who comes back is told the whole row first
  if (row.forked || (await isOfAnotherLog(work, row, change))) {
    noteForked(work, row, change);
    return true;
  }
  switch (change.type) {
    case "live":
      await applyLive(work, row, change);
      break;
    case "messages":
      await work.addMessages(
        row,
        change.messages.filter(({ seq, cid }) => seq > row.hi || cid !== undefined),
      );
      await work.advance(row);
      break;
    case "others":
      raiseOthers(row, change.delivered, change.read);
      break;
    case "mine":
      // A count that is older than what is known of the marks is of no use any more.
      if (change.read >= row.read && change.delivered >= row.delivered) await work.count(row, change);
      Object.assign(row, mergeMarks(row, change));
      break;
    case "changed":
      if (change.epoch !== undefined && change.epoch !== row.epoch) break; // of a log that is not there any more
      await work.change(row, change);
      break;
    case "head":
      row.head = Math.max(row.head, change.head);
  }
  return true;
};

const applyOne = async (work: Workspace, change: Change): Promise<boolean> => {
  switch (change.type) {
    case "row":
      await work.addRow(change.row, change.isAnew);
      return true;
    case "person": {
      const { profile } = change.relation;
      if (profile.id === work.me) {
        await takeProfile(work.store, profile);
        return true;
      }
      const known = await work.store.people.get(profile.id);
      await work.store.people.put({ ...toPersonRow(change.relation), told: (known?.told ?? 0) + 1 });
      if (profile.deleted) await work.forgetPerson(profile.id);
      return true;
    }
    case "standing": {
      // What was told since may be newer than the answer; what is newer than that is told as well.
      const told = (await work.store.people.get(change.relation.profile.id))?.told ?? 0;
      if (told === change.told) await work.store.people.put({ ...toPersonRow(change.relation), told });
      return true;
    }
    case "settings":
      await updateSettings(work.store, (row) => takeKept(row, change.kept));
      return true;
    case "notice":
      await keepNotice(work.store, change.notice);
      return true;
    case "sent":
      await applySent(work, change);
      return true;
    case "page":
      await applyPage(work, change.asked, change.page);
      return true;
    case "hidden":
      await applyHidden(work, change);
      return true;
    case "muted": {
      const row = await work.row(change.conversation);
      if (!row.gone && isUntold(row, change.told)) row.muted = change.muted;
      return true;
    }
    case "cursor":
      await moveCursor(work, change);
      return true;
    case "answer":
      if (isOvertaken(await readCursor(work.store), change)) return true;
      await moveCursor(work, change);
      for (const one of change.changes) await applyOne(work, one);
      return true;
    default:
      return applyToKnown(work, change);
  }
};

const moveCursor = async (
  work: Workspace,
  { move, isAnew = false }: { move: (cursor: Cursor) => Cursor; isAnew?: boolean },
): Promise<void> => {
  const before = await readCursor(work.store);
  const after = move(before);
  if (before.epoch !== "" && (isAnew || after.epoch !== before.epoch)) await forgetHandles(work);
  await writeCursor(work.store, after);
};

/** Something newer was taken in while it was on its way: it is asked for again rather than undo that. */
const isOvertaken = (cursor: Cursor, { asked, epoch, counter }: Extract<Change, { type: "answer" }>): boolean =>
  cursor.epoch === epoch && counter >= asked && counter < cursor.counter;

/** In a recreated inbox a number stands for another conversation. */
const forgetHandles = async ({ store, touched }: Workspace): Promise<void> => {
  for (const row of touched.values()) delete row.handle;
  await store.conversations.toCollection().modify((row) => {
    delete row.handle;
  });
};

/** Takes in changes, all of them or none. What belongs to a conversation never heard of is asked for again. */
export const applyChanges = (
  store: Store,
  me: Uuid,
  changes: readonly Change[],
  clock = Date.now(),
): Promise<Applied> =>
  store.transaction(
    "rw",
    [
      store.people,
      store.conversations,
      store.messages,
      store.members,
      store.outbox,
      store.uploads,
      store.meta,
      store.recordings,
    ],
    async () => {
      const work = new Workspace(store, me, clock);
      const cursorBefore = await readCursor(store);
      let isComplete = true;
      for (const change of changes) isComplete = (await applyOne(work, change)) && isComplete;
      if (!isComplete) await writeCursor(store, withHole(await readCursor(store), cursorBefore.counter));
      if (work.isInDoubt) await writeCursor(store, withHole(await readCursor(store), 0));
      await work.flush();
      const { touched, reset, doubtful, stored, dropped, unseen, hasResent } = work;
      const rows = [...touched.values()];
      return { rows, reset, doubtful, stored, dropped, unseen, hasResent, cursor: await readCursor(store) };
    },
  );
