import * as v from "valibot";
import { Call, type CallBody, toCall } from "../../contract/calls";
import type { ConversationId, Uuid } from "../../contract/ids";
import type { KeptCall } from "./call-row";

type Row = { conversation: ConversationId; version: number; call: string | null };

/** What is to be told of a call: how it is now, and how it ended if it did. */
export type CallNews = { call: Call; over: Pick<CallBody, "status" | "seconds" | "reason"> | null };

const versionsMax = 1_000;

/** A call that is over, nobody knows how: its end was not told. */
const lost = (call: Call): CallNews => ({
  call,
  over: { status: call.answered_at === null ? "missed" : "ended", seconds: 0 },
});

/** The calls of a person, as their conversations told of them. */
export class CallTable {
  readonly #sql: SqlStorage;
  #open: Call[] | undefined;
  /** Versions of conversations, as far as they were looked up: notices of messages carry the last call too. */
  readonly #versions = new Map<ConversationId, number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Those under way: at most one in each conversation. */
  get open(): readonly Call[] {
    this.#open ??= this.#sql
      .exec<Row>("SELECT * FROM calls WHERE call IS NOT NULL")
      .toArray()
      .map(({ call }) => v.parse(Call, JSON.parse(call ?? "")));
    return this.#open;
  }

  find(conversation: ConversationId, id: Uuid): Call | undefined {
    return this.open.find((call) => call.conversation === conversation && call.call_id === id);
  }

  /** Takes in how a conversation's call stands, null for none that this person may know of. What of it is news. */
  take(conversation: ConversationId, kept: KeptCall | null, version: number): CallNews[] {
    if (version <= this.#versionOf(conversation)) return [];
    const before = this.open.find((call) => call.conversation === conversation);
    if (!kept && !before) return [];
    const call = kept && toCall(conversation, kept);
    this.#write(conversation, version, kept?.over ? null : call);
    const news = before && before.call_id !== call?.call_id ? [lost(before)] : [];
    return call ? [...news, { call, over: kept?.over ?? null }] : news;
  }

  /** The conversation says that this call is over, and perhaps how, though its version is known here. */
  drop(conversation: ConversationId, id: Uuid, over: CallNews["over"]): CallNews[] {
    const call = this.find(conversation, id);
    if (!call) return [];
    this.#write(conversation, this.#versionOf(conversation), null);
    return [over ? { call, over } : lost(call)];
  }

  #versionOf(conversation: ConversationId): number {
    const known = this.#versions.get(conversation);
    if (known !== undefined) return known;
    const [row] = this.#sql.exec<Row>("SELECT * FROM calls WHERE conversation = ?", conversation).toArray();
    return this.#remember(conversation, row?.version ?? 0);
  }

  #remember(conversation: ConversationId, version: number): number {
    if (this.#versions.size >= versionsMax) this.#versions.clear();
    this.#versions.set(conversation, version);
    return version;
  }

  #write(conversation: ConversationId, version: number, call: Call | null): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO calls VALUES (?, ?, ?)",
      conversation,
      version,
      call && JSON.stringify(call),
    );
    this.#remember(conversation, version);
    this.#open = undefined;
  }
}
