import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import * as accountSchema from "./account-schema";
import * as directory from "./schema";

const schema = { ...directory, ...accountSchema };

export type Db = DrizzleD1Database<typeof schema> & { $client: D1Database };

export const openDb = (env: Pick<Env, "DB">): Db => drizzle(env.DB, { schema });
