import type { Uuid } from "#contract/ids.ts";
import { type Language, languages } from "#contract/language.ts";
import { pushSubscriptionsMax } from "#contract/limits/push.ts";
import type { NewPushSubscription } from "#worker/objects/rpc/user-channel-rpc.ts";
import { toInsert, toParameters } from "#worker/objects/shared/columns.ts";

/** Subscription of a session's device. `goneAt`: time at which its push service first did not know it. */
export type PushSubscription = NewPushSubscription & { session: Uuid; savedAt: number; goneAt: number | null };

type SubscriptionColumns = {
  session: Uuid;
  endpoint: string;
  p256dh: string;
  auth: string;
  key: string;
  language: string;
  origin: string;
  saved_at: number;
  gone_at: number | null;
};

const columns = [
  "session",
  "endpoint",
  "p256dh",
  "auth",
  "key",
  "language",
  "origin",
  "saved_at",
  "gone_at",
] as const satisfies readonly (keyof SubscriptionColumns)[];
const writeStatement = toInsert("push_subscriptions", columns, "INSERT OR REPLACE");

const toLanguage = (stored: string): Language => languages.find((language) => language === stored) ?? languages[0];

const toSubscription = ({ language, saved_at, gone_at, ...row }: SubscriptionColumns): PushSubscription => ({
  ...row,
  language: toLanguage(language),
  savedAt: saved_at,
  goneAt: gone_at,
});

const isSame = (a: NewPushSubscription, b: NewPushSubscription): boolean =>
  a.endpoint === b.endpoint &&
  a.p256dh === b.p256dh &&
  a.auth === b.auth &&
  a.key === b.key &&
  a.language === b.language &&
  a.origin === b.origin;

/** Push subscriptions of one person, at most one for each session. Loaded when first needed. */
export class SubscriptionTable {
  readonly #sql: SqlStorage;
  #loaded: Map<Uuid, PushSubscription> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get all(): readonly PushSubscription[] {
    return [...this.#subscriptions.values()];
  }

  find(session: Uuid): PushSubscription | undefined {
    return this.#subscriptions.get(session);
  }

  /** Saves the subscription of a session. Returns the sessions whose older subscriptions exceed the maximum. */
  save(session: Uuid, subscription: NewPushSubscription, now = Date.now()): Uuid[] {
    const known = this.find(session);
    if (known && isSame(known, subscription) && known.goneAt === null) return [];
    const others = this.all.filter((other) => other.session !== session).sort((a, b) => b.savedAt - a.savedAt);
    const replaced = others.slice(pushSubscriptionsMax - 1).map((other) => other.session);
    this.delete(replaced);
    this.#write({ ...subscription, session, savedAt: now, goneAt: null });
    return replaced;
  }

  /** Records whether the push service knows the subscription. Does nothing if it was replaced meanwhile. */
  setGone(subscription: PushSubscription, goneAt: number | null): void {
    if (this.#isCurrent(subscription) && subscription.goneAt !== goneAt) this.#write({ ...subscription, goneAt });
  }

  /** Deletes a subscription unless it was replaced meanwhile. */
  deleteExpired(subscription: PushSubscription): void {
    if (this.#isCurrent(subscription)) this.delete([subscription.session]);
  }

  delete(sessions: readonly Uuid[] | "all"): void {
    for (const session of sessions === "all" ? [...this.#subscriptions.keys()] : sessions) {
      if (!this.#subscriptions.delete(session)) continue;
      this.#sql.exec("DELETE FROM push_subscriptions WHERE session = ?", session);
    }
  }

  #isCurrent(subscription: PushSubscription): boolean {
    const current = this.find(subscription.session);
    return current !== undefined && isSame(current, subscription);
  }

  #write(subscription: PushSubscription): void {
    const { savedAt, goneAt, ...row } = subscription;
    this.#sql.exec(writeStatement, ...toParameters(columns, { ...row, saved_at: savedAt, gone_at: goneAt }));
    this.#subscriptions.set(subscription.session, subscription);
  }

  get #subscriptions(): Map<Uuid, PushSubscription> {
    this.#loaded ??= new Map(
      this.#sql
        .exec<SubscriptionColumns>("SELECT * FROM push_subscriptions")
        .toArray()
        .map((row) => [row.session, toSubscription(row)]),
    );
    return this.#loaded;
  }
}
