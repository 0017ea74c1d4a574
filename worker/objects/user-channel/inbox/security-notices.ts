import * as v from "valibot";
import { isResetUnderWay, SecurityNotice } from "#contract/auth/security-notice.ts";
import { timeOfUuid, type Uuid } from "#contract/ids.ts";
import { securityNoticesMax } from "#contract/limits/authentication.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";

const StoredNotices = v.array(v.object({ notice: SecurityNotice, changed: v.number() }));

const noticesKey = "notices";

/** Security notices of the account, newest last. Each device receives them once. */
export class SecurityNotices {
  readonly #meta: KeyValues;
  #stored: v.InferOutput<typeof StoredNotices>;

  constructor(meta: KeyValues) {
    this.#meta = meta;
    const stored = meta.get(noticesKey);
    this.#stored = stored === undefined ? [] : v.parse(StoredNotices, JSON.parse(stored));
  }

  /** Number of the last change. */
  get changed(): number {
    return this.#stored.at(-1)?.changed ?? 0;
  }

  /**
   * Notices after a cursor for a session: none that it caused and none from before it began, except a pending reset of
   * the second factor.
   */
  listSince(counter: number, session: Uuid | undefined, now: number): SecurityNotice[] {
    const sessionStartedAt = session === undefined ? 0 : timeOfUuid(session);
    const all = this.#stored.map(({ notice }) => notice);
    return this.#stored
      .filter(({ changed }) => changed > counter)
      .map(({ notice }) => notice)
      .filter(
        (notice) =>
          isNoticeFor(notice, session) && (notice.at >= sessionStartedAt || isResetUnderWay(notice, all, now)),
      );
  }

  isNew({ id }: SecurityNotice): boolean {
    return this.#stored.every(({ notice }) => notice.id !== id);
  }

  write(notice: SecurityNotice, changed: number): void {
    this.#stored = [...this.#stored, { notice, changed }].slice(-securityNoticesMax);
    this.#meta.set(noticesKey, JSON.stringify(this.#stored));
  }
}

/** Whether the session receives the notice: it did not cause it. */
export const isNoticeFor = (notice: SecurityNotice, session: Uuid | undefined): boolean =>
  session === undefined || notice.session !== session;
