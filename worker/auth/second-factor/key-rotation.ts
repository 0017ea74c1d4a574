import { and, eq, gt, sql } from "drizzle-orm";
import { factors } from "#worker/db/account-schema.ts";
import { openDb } from "#worker/db/client.ts";
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
  const toUpdate = async (factor: FactorRow) => {
    try {
      const secret = await resealTotpSecret(env, factor);
      const isSame = and(eq(factors.id, factor.id), eq(factors.secret, factor.secret));
      return [db.update(factors).set({ secret }).where(isSame)];
    } catch (error) {
      logError("the secret of a code app cannot be decrypted with either key", error);
      return [];
    }
  };
  let batch = await db.select().from(factors).where(isOutdated).orderBy(factors.id).limit(batchSize);
  for (let n = 1; batch.length > 0; n++) {
    const [first, ...more] = (await Promise.all(batch.map(toUpdate))).flat();
    if (first) await db.batch([first, ...more]);
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
