import * as v from "valibot";
import { Call, type CallBody } from "#contract/calls/call.ts";
import { toCall } from "#contract/calls/open-call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { CallRecord } from "#worker/objects/shared/call-record.ts";

type CallTableRow = { conversation: ConversationId; version: number; call: string | null };

/** Change of a call for the devices: its state and, if it ended, how. `isHidden`: devices are not notified. */
export type CallUpdate = { call: Call; over: Pick<CallBody, "status" | "seconds" | "reason"> | null; isHidden?: true };

const StoredCall = v.object({ ...Call.entries, held: v.optional(v.literal(true)) });
type StoredCall = v.InferOutput<typeof StoredCall>;

const versionsMax = 1_000;

/** Update for a call that is over without a known reason. */
const toLostCall = (call: Call): CallUpdate => ({
  call,
  over: { status: call.answered_at === null ? "missed" : "ended", seconds: 0 },
});

/** Calls of a person as reported by their conversations. */
export class CallTable {
  readonly #sql: SqlStorage;
  #cached: { open: Call[]; hidden: Call[] } | undefined;
  /** Cached call versions by conversation, since message notices carry the last call too. */
  readonly #versions = new Map<ConversationId, number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Open calls, at most one for each conversation. */
  get open(): readonly Call[] {
    return this.#read().open;
  }

  /** Ringing calls from blocked people, which only affect other hidden calls. */
  get hidden(): readonly Call[] {
    return this.#read().hidden;
  }

  find(conversation: ConversationId, id: Uuid): Call | undefined {
    return this.open.find((call) => call.conversation === conversation && call.call_id === id);
  }

  /**
   * Stores the state of a conversation's call, null for none, if its version is newer. Returns the resulting updates.
   */
  applyCallState(
    conversation: ConversationId,
    record: CallRecord | null,
    version: number,
    hiddenRecord?: CallRecord,
  ): CallUpdate[] {
    if (version <= this.#versionOf(conversation)) return [];
    const isOfConversation = (call: Call) => call.conversation === conversation;
    const before = this.open.find(isOfConversation);
    if (!record && !hiddenRecord && !before && !this.hidden.some(isOfConversation)) return [];
    const call = record && toCall(conversation, record);
    const hiddenCall = hiddenRecord && toCall(conversation, hiddenRecord);
    this.#write(conversation, version, hiddenCall ? { ...hiddenCall, held: true } : record?.over ? null : call);
    const updates: CallUpdate[] = before && before.call_id !== call?.call_id ? [toLostCall(before)] : [];
    if (hiddenCall) updates.push({ call: hiddenCall, over: null, isHidden: true });
    if (call) updates.push({ call, over: record?.over ?? null });
    return updates;
  }

  /** Removes a call that its conversation reports as over although the version is unchanged. */
  removeCall(conversation: ConversationId, id: Uuid, over: CallUpdate["over"]): CallUpdate[] {
    const call = this.find(conversation, id);
    if (!call) return [];
    this.#write(conversation, this.#versionOf(conversation), null);
    return [over ? { call, over } : toLostCall(call)];
  }

  #read(): { open: Call[]; hidden: Call[] } {
    if (this.#cached) return this.#cached;
    const rows = this.#sql.exec<CallTableRow>("SELECT * FROM calls WHERE call IS NOT NULL").toArray();
    const all = rows.map(({ call }) => v.parse(StoredCall, JSON.parse(call ?? "")));
    const { open = [], held: hidden = [] } = Object.groupBy(all, (call) => (call.held ? "held" : "open"));
    this.#cached = { open, hidden: hidden.map(({ held: _, ...call }) => call) };
    return this.#cached;
  }

  #versionOf(conversation: ConversationId): number {
    const cached = this.#versions.get(conversation);
    if (cached !== undefined) return cached;
    const [row] = this.#sql.exec<CallTableRow>("SELECT * FROM calls WHERE conversation = ?", conversation).toArray();
    return this.#cacheVersion(conversation, row?.version ?? 0);
  }

  #cacheVersion(conversation: ConversationId, version: number): number {
    if (this.#versions.size >= versionsMax) this.#versions.clear();
    this.#versions.set(conversation, version);
    return version;
  }

  #write(conversation: ConversationId, version: number, call: StoredCall | null): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO calls VALUES (?, ?, ?)",
      conversation,
      version,
      call && JSON.stringify(call),
    );
    this.#cacheVersion(conversation, version);
    this.#cached = undefined;
  }
}
