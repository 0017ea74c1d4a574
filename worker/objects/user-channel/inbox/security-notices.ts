import * as v from "valibot";
import { isResetUnderWay, SecurityNotice } from "#contract/auth/security.ts";
import { timeOfUuid, type Uuid } from "#contract/ids.ts";
import { securityNoticesMax } from "#contract/limits.ts";
import type { Meta } from "#worker/objects/shared/key-values.ts";

const Kept = v.array(v.object({ notice: SecurityNotice, changed: v.number() }));

const key = "notices";

/** What became of the person's account, the newest last: each of their devices is told of it once. */
export class OwnNotices {
  readonly #meta: Meta;
  #kept: v.InferOutput<typeof Kept>;

  constructor(meta: Meta) {
    this.#meta = meta;
    const kept = meta.get(key);
    this.#kept = kept === undefined ? [] : v.parse(Kept, JSON.parse(kept));
  }

  /** The number of the change that told of the last one. */
  get changed(): number {
    return this.#kept.at(-1)?.changed ?? 0;
  }

  /**
   * What a device that has come so far has still to hear, in this session: nothing of what it did itself or what was before
   * it began, but of a second step that is about to be taken away.
   */
  since(counter: number, session: Uuid | undefined, now: number): SecurityNotice[] {
    const begun = session === undefined ? 0 : timeOfUuid(session);
    const all = this.#kept.map(({ notice }) => notice);
    return this.#kept
      .filter(({ changed }) => changed > counter)
      .map(({ notice }) => notice)
      .filter((notice) => isFor(notice, session) && (notice.at >= begun || isResetUnderWay(notice, all, now)));
  }

  isNews({ id }: SecurityNotice): boolean {
    return this.#kept.every(({ notice }) => notice.id !== id);
  }

  write(notice: SecurityNotice, changed: number): void {
    this.#kept = [...this.#kept, { notice, changed }].slice(-securityNoticesMax);
    this.#meta.set(key, JSON.stringify(this.#kept));
  }
}

/** Whoever did it need not be told. */
export const isFor = (notice: SecurityNotice, session: Uuid | undefined): boolean =>
  session === undefined || notice.session !== session;
