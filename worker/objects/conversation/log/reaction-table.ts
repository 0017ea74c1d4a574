import { reactionKindsMax } from "#contract/limits/messages.ts";
import { formatReactions, type ReactionCount } from "#contract/wire/reactions.ts";

const cachedMax = 400; // messages: two of the largest pages

/** Reaction of a member to a message; `emoji` is null once it was removed. `withheld`: 1 if only the member sees it. */
export type ReactionRecord = {
  seq: number;
  member: number;
  emoji: string | null;
  revision: number;
  withheld: number;
};

/** Message whose reactions changed, and the revision of the last change. */
export type ReactionChange = { seq: number; revision: number };

/** A kind of reaction, with the revision of its first one. */
type SharedCount = { emoji: string; count: number; firstRevision: number };

/** Reactions to one message. */
class MessageReactions {
  readonly #byMember = new Map<number, ReactionRecord>();
  #shared: SharedCount[] | undefined;

  get(member: number): ReactionRecord | undefined {
    return this.#byMember.get(member);
  }

  set(reaction: ReactionRecord): void {
    this.#byMember.set(reaction.member, reaction);
    this.#shared = undefined;
  }

  /** Whether a member may add a reaction of this kind: a message has `reactionKindsMax` kinds at most. */
  hasRoomFor(member: number, emoji: string): boolean {
    const others = [...this.#byMember.values()].filter((one) => one.member !== member && one.emoji !== null);
    return new Set([...others.map((one) => one.emoji), emoji]).size <= reactionKindsMax;
  }

  /** Summary for a member, the most frequent kind first, otherwise the oldest one, without changes after `until`. */
  summarize(member: number, until: number): string {
    const isCurrent = until === Number.MAX_SAFE_INTEGER;
    const shared = isCurrent ? this.#shared : undefined;
    const counted = shared ?? this.#countShared(until);
    if (isCurrent) this.#shared = counted;
    const own = this.#byMember.get(member);
    const counts: ReactionCount[] = counted.map(({ emoji, count }) => ({
      emoji,
      count,
      isOwn: own?.withheld === 0 && own.emoji === emoji,
    }));
    if (own?.withheld === 1 && own.emoji !== null) {
      const same = counts.find(({ emoji }) => emoji === own.emoji);
      if (same) Object.assign(same, { count: same.count + 1, isOwn: true });
      else counts.push({ emoji: own.emoji, count: 1, isOwn: true });
    }
    return formatReactions(counts);
  }

  /** Counts of the reactions that all members see. */
  #countShared(until: number): SharedCount[] {
    const counts = new Map<string, SharedCount>();
    for (const { emoji, revision, withheld } of this.#byMember.values()) {
      if (emoji === null || withheld === 1 || revision > until) continue;
      const { count = 0, firstRevision = revision } = counts.get(emoji) ?? {};
      counts.set(emoji, { emoji, count: count + 1, firstRevision: Math.min(firstRevision, revision) });
    }
    return [...counts.values()].sort((a, b) => b.count - a.count || a.firstRevision - b.firstRevision);
  }
}

/** Reactions to the messages of a conversation. Those of recently changed and read messages are cached. */
export class ReactionTable {
  readonly #sql: SqlStorage;
  readonly #cache = new Map<number, MessageReactions>();
  /** Highest seq with a reaction, undefined until it is needed. */
  #newestSeq: number | undefined;
  /** Last answer of `listChanges`: all members are notified of the same changes. */
  #changes: { since: number; upTo: number; changes: readonly ReactionChange[] } | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Reads the revision of the newest change, 0 if there is none. */
  readRevision(): number {
    const { last } = this.#sql.exec<{ last: number | null }>("SELECT max(revision) AS last FROM reactions").one();
    if (last === null) this.#newestSeq = 0; // saves a row for every conversation without reactions
    return last ?? 0;
  }

  find(seq: number, member: number): ReactionRecord | undefined {
    return this.#load([seq]).get(seq)?.get(member);
  }

  hasRoomFor(seq: number, member: number, emoji: string): boolean {
    return this.#load([seq]).get(seq)?.hasRoomFor(member, emoji) ?? true;
  }

  /**
   * Summaries of the reactions to these messages as a member sees them; a message without reactions has none. `until`:
   * highest revision of the reactions to include.
   */
  summarize(
    seqs: readonly number[],
    member: number,
    until: number = Number.MAX_SAFE_INTEGER,
  ): ReadonlyMap<number, string> {
    const loaded = this.#load(seqs);
    return new Map(
      seqs.flatMap((seq) => {
        const summary = loaded.get(seq)?.summarize(member, until) ?? "";
        return summary === "" ? [] : [[seq, summary]];
      }),
    );
  }

  /** Sets or removes the reaction of a member. */
  set(reaction: ReactionRecord): void {
    const { seq, member, emoji, revision, withheld } = reaction;
    this.#load([seq]);
    this.#sql.exec(
      "INSERT OR REPLACE INTO reactions (seq, member, emoji, revision, withheld) VALUES (?, ?, ?, ?, ?)",
      seq,
      member,
      emoji,
      revision,
      withheld,
    );
    const cached = this.#cache.get(seq) ?? new MessageReactions();
    cached.set(reaction);
    this.#cache.set(seq, cached);
    this.#newestSeq = Math.max(this.#newest, seq);
  }

  /** Deletes the reactions to a deleted message. */
  deleteOf(seq: number): void {
    if (seq > this.#newest) return;
    this.#sql.exec("DELETE FROM reactions WHERE seq = ?", seq);
    this.#cache.delete(seq);
    this.#changes = undefined;
  }

  /** Reactions of a member that were not removed, oldest change first. */
  listOf(member: number): ReactionRecord[] {
    const query = "SELECT * FROM reactions WHERE member = ? AND emoji IS NOT NULL ORDER BY revision";
    return this.#sql.exec<ReactionRecord>(query, member).toArray();
  }

  /** Reactions to a message that a member sees, newest first, before a revision and of one kind if one is given. */
  listPage(
    seq: number,
    member: number,
    { emoji, before, limit }: { emoji?: string | undefined; before: number; limit: number },
  ): ReactionRecord[] {
    return this.#sql
      .exec<ReactionRecord>(
        `SELECT * FROM reactions WHERE seq = ? AND emoji IS NOT NULL AND emoji = coalesce(?, emoji) AND revision < ?
         AND (withheld = 0 OR member = ?) ORDER BY revision DESC LIMIT ?`,
        seq,
        emoji ?? null,
        before,
        member,
        limit,
      )
      .toArray();
  }

  /**
   * Messages whose reactions changed after a revision, up to another one. Many members may react to one message, so
   * that their rows are not read for each member who is notified.
   */
  listChanges(since: number, upTo: number): readonly ReactionChange[] {
    if (this.#changes?.since === since && this.#changes.upTo === upTo) return this.#changes.changes;
    const query =
      "SELECT seq, max(revision) AS revision FROM reactions WHERE revision > ? AND revision <= ? GROUP BY seq";
    const changes = this.#sql.exec<ReactionChange>(query, since, upTo).toArray();
    this.#changes = { since, upTo, changes };
    return changes;
  }

  /** Clears the caches after a failed transaction. */
  clearCache(): void {
    this.#cache.clear();
    this.#changes = undefined;
    this.#newestSeq = undefined;
  }

  get #newest(): number {
    this.#newestSeq ??=
      this.#sql.exec<{ last: number | null }>("SELECT max(seq) AS last FROM reactions").one().last ?? 0;
    return this.#newestSeq;
  }

  /** Reactions to these messages. A message newer than all that have reactions reads nothing. */
  #load(seqs: readonly number[]): ReadonlyMap<number, MessageReactions> {
    const known = seqs.filter((seq) => seq <= this.#newest);
    const missing = known.filter((seq) => !this.#cache.has(seq));
    if (this.#cache.size + missing.length > cachedMax) {
      this.#cache.clear();
      missing.splice(0, missing.length, ...known);
    }
    if (missing.length > 0) {
      for (const seq of missing) this.#cache.set(seq, new MessageReactions());
      const query = "SELECT reactions.* FROM json_each(?) JOIN reactions ON seq = value";
      for (const row of this.#sql.exec<ReactionRecord>(query, JSON.stringify(missing)))
        this.#cache.get(row.seq)?.set(row);
    }
    return new Map(
      known.flatMap((seq) => (this.#cache.has(seq) ? [[seq, this.#cache.get(seq) as MessageReactions]] : [])),
    );
  }
}
