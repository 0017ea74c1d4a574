import type { ConversationId, Uuid } from "#contract/ids.ts";
import { fanOutAtOnce, fanOutRetryMaxMs, retryBaseMs } from "#contract/limits/delivery.ts";
import { deletionSettleMs } from "#contract/limits/people.ts";
import { openDb } from "#worker/db/client.ts";
import { deleteDeletionRecord, findDeletionStart } from "#worker/db/deletions.ts";
import { deletionSteps } from "#worker/lib/deletion/deletion-steps.ts";
import { logError } from "#worker/lib/log.ts";
import { deleteAvatar } from "#worker/lib/storage/avatars.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { jitterMs, withRetry } from "#worker/objects/shared/retry.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const deletedKey = "gone";
const pageRows = 60;
const pagesMax = 10; // conversations are handled by one alarm at most in so many pages

/** Tables of SQLite, of the platform and of the migrations. */
const systemTable = /^(sqlite_|_cf_|schema_version$)/;

type AccountDeletionPorts = {
  ctx: DurableObjectState;
  env: Env;
  /** Empty if the platform does not know the object's name: an alarm set by an older runtime. */
  user: Uuid;
  /** Stops input and writes and closes all sockets. */
  close(): void;
};

/**
 * Purge of a deleted account by its own channel, after the directory has deleted it. Each alarm runs a pass over what
 * is left, until a pass that began after `deletionSettleMs` finds nothing. A marker stays so that the channel never
 * becomes active again.
 */
export class AccountDeletionJob {
  readonly #ports: AccountDeletionPorts;
  #user: Uuid;
  #isGone: boolean;
  #failures = 0;
  #running: Promise<void> | undefined;

  constructor(ports: AccountDeletionPorts) {
    this.#ports = ports;
    this.#user = ports.user;
    const markers = ports.ctx.storage.sql.exec("SELECT 1 FROM meta WHERE key = ?", deletedKey).toArray();
    this.#isGone = markers.length > 0;
    if (this.#isGone) ports.close();
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  start(user: Uuid): void {
    const { ctx, close } = this.#ports;
    this.#user = user;
    this.#writeMarker();
    this.#isGone = true;
    close();
    void ctx.storage.setAlarm(Date.now());
  }

  /**
   * Answers a notice of a conversation that does not know of the deletion by leaving it. Throws if that fails, so that
   * the notice is repeated.
   */
  async declineNotice({ conversation, gone }: ConversationNotice): Promise<void> {
    if (!gone) await this.#leaveConversation(conversation);
  }

  /** Runs one pass. Never throws: failures are retried. */
  async runPass(): Promise<void> {
    if (!this.#isGone || this.#user === "") return; // the hourly cron passes the user id
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #run(): Promise<void> {
    const { storage } = this.#ports.ctx;
    // If this instance dies during the pass, the alarm continues.
    await storage.setAlarm(Date.now() + fanOutRetryMaxMs);
    try {
      const nextAt = await this.#purge(Date.now());
      if (nextAt === undefined) await storage.deleteAlarm();
      else await storage.setAlarm(nextAt);
    } catch (error) {
      logError("account purge failed; it is retried", error);
      await storage.setAlarm(this.#nextRetryAt());
    }
  }

  /** Purges what is there. Returns the time of the next pass, undefined if nothing can follow. */
  async #purge(now: number): Promise<number | undefined> {
    const { env } = this.#ports;
    const user = this.#user;
    let isDone = await this.#leaveConversations();
    for (const step of Object.values(deletionSteps)) isDone = (await step(env, user)) && isDone;
    if (!isDone) return this.#nextRetryAt();
    this.#failures = 0;
    this.#purgeTables();
    const db = openDb(env);
    const startedAt = await findDeletionStart(db, user);
    if (startedAt === undefined) return undefined;
    const settledAt = startedAt + deletionSettleMs;
    if (now < settledAt) return settledAt;
    await deleteDeletionRecord(db, user);
    return undefined;
  }

  #nextRetryAt(): number {
    this.#failures += 1;
    return Date.now() + jitterMs(this.#failures, retryBaseMs, fanOutRetryMaxMs);
  }

  /** Leaves all conversations and deletes their rows. False if some are left. */
  async #leaveConversations(): Promise<boolean> {
    const { sql } = this.#ports.ctx.storage;
    let failures = 0;
    let after = 0;
    for (let page = 0; page < pagesMax; page++) {
      const rows = sql
        .exec<{ handle: number; conversation: ConversationId }>(
          "SELECT handle, conversation FROM inbox WHERE handle > ? ORDER BY handle LIMIT ?",
          after,
          pageRows,
        )
        .toArray();
      const last = rows.at(-1);
      if (!last) return failures === 0;
      after = last.handle;
      const leaveRows = async () => {
        for (let row = rows.shift(); row; row = rows.shift()) {
          try {
            await this.#leaveConversation(row.conversation);
            sql.exec("DELETE FROM inbox WHERE handle = ?", row.handle);
          } catch (error) {
            logError("leaving a conversation failed", error);
            failures += 1;
          }
        }
      };
      await Promise.all(Array.from({ length: fanOutAtOnce - 1 }, leaveRows));
    }
    return false;
  }

  async #leaveConversation(id: ConversationId): Promise<void> {
    const { env } = this.#ports;
    const { replaced } = await withRetry(() => getConversationStub(env, id).removeDeletedUser(this.#user));
    if (replaced !== null) await deleteAvatar(env, replaced);
  }

  #writeMarker(): void {
    this.#ports.ctx.storage.sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES (?, '1')", deletedKey);
  }

  /** Deletes all rows of all tables except the marker. */
  #purgeTables(): void {
    const { storage } = this.#ports.ctx;
    storage.transactionSync(() => {
      const tables = storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
        .toArray();
      for (const { name } of tables) if (!systemTable.test(name)) storage.sql.exec(`DELETE FROM "${name}"`);
      this.#writeMarker();
    });
  }
}
