import * as v from "valibot";
import { Call } from "../../contract/calls";
import { type ConversationId, privateMembers, type Uuid } from "../../contract/ids";
import type { KeptCall } from "./call-row";
import type { CallStanding } from "./rpc";

type Row = { conversation: ConversationId; version: number; call: string | null };

/** What is to be told of a call: how it is now, and how it ended if it did. */
export type CallNews = { call: Call; over: KeptCall["over"] };

/** A call as the devices of its two people know it. */
const toCall = (conversation: ConversationId, kept: KeptCall): Call => {
  const [first = "", second = ""] = privateMembers(conversation) ?? [];
  const [from, to] = kept.caller === 0 ? [first, second] : [second, first];
  return {
    call_id: kept.id,
    conversation,
    type: kept.kind,
    from,
    to,
    from_device: kept.callerDevice,
    to_device: kept.calleeDevice,
    created_at: kept.createdAt,
    answered_at: kept.answeredAt,
  };
};

/** The calls of a person, as their conversations told of them. */
export class CallTable {
  readonly #sql: SqlStorage;
  #open: Call[] | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Those under way: at most one that both sides know of, and what rings beside it. */
  get open(): readonly Call[] {
    this.#open ??= this.#sql
      .exec<Row>("SELECT * FROM calls WHERE call IS NOT NULL")
      .toArray()
      .map(({ call }) => v.parse(Call, JSON.parse(call ?? "")));
    return this.#open;
  }

  find(id: Uuid): Call | undefined {
    return this.open.find(({ call_id }) => call_id === id);
  }

  /** A call as it stands, whether or not it is news. */
  read(conversation: ConversationId, { call }: CallStanding): CallNews {
    return { call: toCall(conversation, call), over: call.over };
  }

  /** Takes in how a conversation's call stands; undefined when that was known. */
  take(conversation: ConversationId, { call: kept, calls }: CallStanding): CallNews | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM calls WHERE conversation = ?", conversation).toArray();
    if (row && row.version >= calls) return undefined;
    const call = toCall(conversation, kept);
    const stored = kept.over ? null : JSON.stringify(call);
    this.#sql.exec("INSERT OR REPLACE INTO calls VALUES (?, ?, ?)", conversation, calls, stored);
    this.#open = undefined;
    return { call, over: kept.over };
  }
}
