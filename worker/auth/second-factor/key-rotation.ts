import { and, gt, sql } from "drizzle-orm";
import { openDb } from "#worker/db/client.ts";
import { factors } from "#worker/db/security-schema.ts";
import { logError } from "#worker/lib/log.ts";
import { type FactorRow, resealTotpSecret } from "./factors.ts";
import { findReplacingKeyId } from "./secret-box.ts";

const batchSize = 500;
const batchesMax = 20;

/**
 * Re-encrypts the secrets under the old key during a key rotation, including those of unused code apps. Remaining rows
 * are processed an hour later; their number is logged for the operator who waits to remove the old key.
 */
export const resealSecrets = async (env: Env): Promise<void> => {
  const keyId = findReplacingKeyId(env);
  if (keyId === undefined) return;
  const db = openDb(env);
  const isOutdated = sql`substr(${factors.secret}, 1, ${keyId.length}) <> ${keyId}`;
  const toChange = async (factor: FactorRow) => {
    try {
      return [{ id: factor.id, before: factor.secret, secret: await resealTotpSecret(env, factor) }];
    } catch (error) {
      logError("the secret of a code app cannot be decrypted with either key", error);
      return [];
    }
  };
  let batch = await db.select().from(factors).where(isOutdated).orderBy(factors.id).limit(batchSize);
  for (let n = 1; batch.length > 0; n++) {
    const changes = (await Promise.all(batch.map(toChange))).flat();
    // One statement for the batch: an invocation may send a thousand.
    if (changes.length > 0)
      await db.run(
        sql`UPDATE factors SET secret = change.value ->> 'secret' FROM json_each(${JSON.stringify(changes)}) AS change
          WHERE factors.id = change.value ->> 'id' AND factors.secret = change.value ->> 'before'`,
      );
    const last = batch.at(-1)?.id;
    if (n === batchesMax || last === undefined) break;
    batch = await db
      .select()
      .from(factors)
      .where(and(isOutdated, gt(factors.id, last)))
      .orderBy(factors.id)
      .limit(batchSize);
  }
  const remaining = await db.$count(factors, isOutdated);
  console.warn(`code apps still encrypted with the old FACTOR_KEY: ${remaining}`);
};
