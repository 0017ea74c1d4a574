import * as v from "valibot";
import { Call, type CallBody, toCall } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { CallRecord } from "#worker/objects/shared/call-record.ts";

type CallTableRow = { conversation: ConversationId; version: number; call: string | null };

/** What is to be told of a call: how it is now, and how it ended if it did. Of one that is `held`, nobody is told. */
export type CallUpdate = { call: Call; over: Pick<CallBody, "status" | "seconds" | "reason"> | null; isHidden?: true };

const StoredCall = v.object({ ...Call.entries, held: v.optional(v.literal(true)) });
type StoredCall = v.InferOutput<typeof StoredCall>;

const versionsMax = 1_000;

/** A call that is over, nobody knows how: its end was not told. */
const toLostCall = (call: Call): CallUpdate => ({
  call,
  over: { status: call.answered_at === null ? "missed" : "ended", seconds: 0 },
});

/** The calls of a person, as their conversations told of them. */
export class CallTable {
  readonly #sql: SqlStorage;
  #cached: { open: Call[]; hidden: Call[] } | undefined;
  /** Versions of conversations, as far as they were looked up: notices of messages carry the last call too. */
  readonly #versions = new Map<ConversationId, number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Those under way: at most one in each conversation. */
  get open(): readonly Call[] {
    return this.#read().open;
  }

  /** Those that ring and that this person is not to know of: they count for nothing but for those who make them. */
  get hidden(): readonly Call[] {
    return this.#read().hidden;
  }

  find(conversation: ConversationId, id: Uuid): Call | undefined {
    return this.open.find((call) => call.conversation === conversation && call.call_id === id);
  }

  /** Takes in how a conversation's call stands, null for none that this person may know of. What of it is news. */
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

  /** The conversation says that this call is over, and perhaps how, though its version is known here. */
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
