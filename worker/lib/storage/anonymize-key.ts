import { deletedUserId, type Uuid } from "#contract/ids.ts";

/** Replaces the owner's id at the start of an R2 key by the id of a deleted user. */
export const anonymizeKey = (key: string): { owner: Uuid; key: string } => ({
  owner: deletedUserId,
  key: deletedUserId + key.slice(deletedUserId.length),
});
