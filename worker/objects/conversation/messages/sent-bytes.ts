import { Buffer } from "node:buffer";
import { memberBytesPerDay, memberBytesUnwrittenMax } from "#contract/limits/messages.ts";
import type { Body } from "#contract/messages/body.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { type BucketLevel, TokenBucket } from "#worker/objects/shared/token-bucket.ts";

type ByteBudget = { bucket: TokenBucket; unwritten: number };

const daySeconds = 24 * 3_600;
/** Bytes that a message takes from the budget. */
export const countBodyBytes = (body: Body): number => Buffer.byteLength(JSON.stringify(body));

/**
 * Daily byte budget of each member in a conversation. The level is written only after `memberBytesUnwrittenMax` bytes,
 * so that short texts cost no row.
 */
export class SentByteBudgets {
  readonly #sql: SqlStorage;
  readonly #burst: number;
  readonly #budgets = new Map<number, ByteBudget>();

  /** `factor`: multiple of the production limit. */
  constructor(sql: SqlStorage, factor: number) {
    this.#sql = sql;
    this.#burst = memberBytesPerDay * factor;
  }

  /** Takes bytes from the member's budget within the caller's transaction. False if not enough are left. */
  take(member: Member, bytes: number, now: number): boolean {
    const budget = this.#budgetOf(member);
    if (budget.bucket.waitMs(now, this.#burst) === 0) budget.unwritten = 0;
    if (!budget.bucket.take(now, bytes)) return false;
    budget.unwritten += bytes;
    if (budget.unwritten <= memberBytesUnwrittenMax) return true;
    budget.unwritten = 0;
    const { tokens, at } = budget.bucket.level;
    this.#sql.exec(
      "INSERT OR REPLACE INTO sent_bytes (member, tokens, at) VALUES (?, ?, ?)",
      member.number,
      tokens,
      at,
    );
    return true;
  }

  waitMs(member: Member, bytes: number, now: number): number {
    return this.#budgetOf(member).bucket.waitMs(now, bytes);
  }

  #budgetOf({ number }: Member): ByteBudget {
    const cached = this.#budgets.get(number);
    if (cached) return cached;
    const [stored] = this.#sql
      .exec<BucketLevel>("SELECT tokens, at FROM sent_bytes WHERE member = ?", number)
      .toArray();
    const budget = { bucket: new TokenBucket(this.#burst, this.#burst / daySeconds, stored), unwritten: 0 };
    this.#budgets.set(number, budget);
    return budget;
  }
}
