import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import * as schema from "./schema";

export type Db = DrizzleD1Database<typeof schema> & { $client: D1Database };

export const openDb = (env: Pick<Env, "DB">): Db => drizzle(env.DB, { schema });
