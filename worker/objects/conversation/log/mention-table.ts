import { mentionsListedMax } from "#contract/limits/conversations.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { findMentions } from "#contract/messages/mentions.ts";
import type { Member } from "./member-table.ts";

/** Stands for all members in the column `member`. */
const everyone = -1;
/** Stands for a mention of everyone that an edit removed, which still counts for its limit. */
const formerEveryone = -2;

/** Values of the column `member` for the mentions of a message. */
const listMentioned = (body: StoredBody): ReadonlySet<number> =>
  new Set(findMentions(body).map(([, , who = everyone]) => who));

/** Mentions of members in the messages of a group, by which unread mentions are found without reading messages. */
export class MentionTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Adds the mentions of a new message. A message without mentions writes nothing. */
  add(seq: number, body: StoredBody): void {
    for (const member of listMentioned(body))
      this.#sql.exec("INSERT INTO mentions (member, seq) VALUES (?, ?)", member, seq);
  }

  /** Replaces the mentions of a message after an edit, which only removes some. */
  replace(seq: number, before: StoredBody, body: StoredBody): void {
    const kept = listMentioned(body);
    for (const member of listMentioned(before)) {
      if (kept.has(member)) continue;
      if (member === everyone)
        this.#sql.exec(
          "UPDATE OR IGNORE mentions SET member = ? WHERE member = ? AND seq = ?",
          formerEveryone,
          everyone,
          seq,
        );
      else this.#sql.exec("DELETE FROM mentions WHERE member = ? AND seq = ?", member, seq);
    }
  }

  /** Newest messages of others that mention a member who has neither read nor cleared them, in ascending order. */
  listUnread({ number, read, hidden }: Pick<Member, "number" | "read" | "hidden">): number[] {
    return this.#sql
      .exec<{ seq: number }>(
        `SELECT DISTINCT seq FROM mentions JOIN messages USING (seq)
         WHERE member IN (?, ?) AND mentions.seq > ? AND sender <> ? AND kind <> 'deleted' ORDER BY seq DESC LIMIT ?`,
        number,
        everyone,
        Math.max(read, hidden),
        number,
        mentionsListedMax,
      )
      .toArray()
      .map(({ seq }) => seq)
      .reverse();
  }

  /** Time of the last message that mentioned everyone, deleted or not. */
  findLastEveryoneAt(): number | undefined {
    return this.#sql
      .exec<{ at: number }>(
        "SELECT at FROM mentions JOIN messages USING (seq) WHERE member IN (?, ?) ORDER BY mentions.seq DESC LIMIT 1",
        everyone,
        formerEveryone,
      )
      .toArray()[0]?.at;
  }
}
