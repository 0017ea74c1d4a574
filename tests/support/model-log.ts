import type { CommandOf, PageResult, SearchResult } from "../../contract/commands";
import type { Marks, Message } from "../../contract/conversations";
import type { ConversationId, Uuid } from "../../contract/ids";
import { searchResultsMax } from "../../contract/limits";
import { foldText } from "../../contract/text";

/** The model's conversation, and what its members may read of it. */
export type Log = {
  id: ConversationId;
  epoch: string;
  open: boolean;
  messages: (Message & { author: Uuid; cid: Uuid })[];
  marks: Map<Uuid, Marks & { hidden: number }>;
};

/** A message as one member is told it: the client id is its author's alone. */
export const toMember = ({ author, cid, ...message }: Log["messages"][number], member: Uuid): Message =>
  author === member ? { ...message, cid } : message;

const seenBy = (log: Log, user: Uuid) => {
  const hidden = log.marks.get(user)?.hidden ?? 0;
  return log.messages.filter((message) => message.seq > hidden);
};

export const pageOf = (log: Log, user: Uuid, command: CommandOf<"page">, rowsMax: number): PageResult => {
  const { direction, seq, limit } = command;
  const seen = seenBy(log, user);
  const found =
    direction === "after"
      ? seen.filter((message) => message.seq > seq)
      : seen.filter((message) => message.seq < seq).reverse();
  const rows = found.slice(0, Math.min(limit, rowsMax));
  const messages = rows.map((message) => toMember(message, user));
  return { epoch: log.epoch, head: log.messages.length, messages, more: found.length > rows.length };
};

export const searchIn = (log: Log, user: Uuid, { query, before }: CommandOf<"search">): SearchResult => {
  const needle = foldText(query);
  const found = seenBy(log, user).filter(
    ({ seq, body }) => seq < before && body.type === "text" && foldText(body.text).includes(needle),
  );
  const page = found.reverse().slice(0, searchResultsMax);
  const last = found.length > page.length ? (page.at(-1)?.seq ?? null) : null;
  return { messages: page.map((message) => toMember(message, user)), before: last };
};
