import * as v from "valibot";
import { securityNoticesMax } from "../../contract/limits";
import { SecurityNotice } from "../../contract/security";
import type { Meta } from "./meta";

const Kept = v.array(SecurityNotice);
const key = "notices";

/** What became of the person's account, the newest last: each of their devices is told once. */
export class OwnNotices {
  readonly #meta: Meta;
  #kept: SecurityNotice[];

  constructor(meta: Meta) {
    this.#meta = meta;
    const kept = meta.get(key);
    this.#kept = kept === undefined ? [] : v.parse(Kept, JSON.parse(kept));
  }

  /** False when it is known. */
  add(notice: SecurityNotice): boolean {
    if (this.#kept.some(({ id }) => id === notice.id)) return false;
    this.#kept = [...this.#kept, notice].slice(-securityNoticesMax);
    this.#meta.set(key, JSON.stringify(this.#kept));
    return true;
  }
}
