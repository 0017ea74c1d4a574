import { eq } from "drizzle-orm";
import { stepUpSeconds } from "#contract/limits/authentication.ts";
import type { Db } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import type { Caller } from "#worker/lib/http/app.ts";

type ReauthenticationColumns = Pick<typeof sessions.$inferSelect, "proved_at" | "proved_generation">;

/** Time up to which a session may change sign-in settings; null if it must reauthenticate. */
export const getReauthenticationExpiry = (
  { proved_at, proved_generation }: ReauthenticationColumns,
  generation: number,
  now: number,
): number | null => {
  const end = proved_at + stepUpSeconds * 1_000;
  return generation >= proved_generation && end > now ? end : null;
};

export const findReauthenticationExpiry = async (
  db: Db,
  { session, generation }: Caller,
  now: number,
): Promise<number | null> => {
  const row = await db
    .select({ proved_at: sessions.proved_at, proved_generation: sessions.proved_generation })
    .from(sessions)
    .where(eq(sessions.id, session))
    .get();
  return row ? getReauthenticationExpiry(row, generation, now) : null;
};
