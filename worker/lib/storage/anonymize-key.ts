import { deletedUserId, type Uuid } from "#contract/ids.ts";

/** A name in R2 that begins with whose it is, made nobody's. */
export const anonymizeKey = (key: string): { owner: Uuid; key: string } => ({
  owner: deletedUserId,
  key: deletedUserId + key.slice(deletedUserId.length),
});
