import type { Uuid } from "../../contract/ids";
import type { Db } from "../db/client";

export const flushPendingRelations = async (_env: Env, _user: Uuid): Promise<void> => {};
export const findConnection = async (_db: Db, _a: Uuid, _b: Uuid): Promise<{ id: Uuid } | undefined> => undefined;
