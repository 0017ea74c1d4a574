import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";

/** SPEC.md §7 delete-user-account. Names the account to delete, which must be the caller's own. */
export const AccountDeletion = v.strictObject({ user_id: Uuid });
export type AccountDeletion = v.InferInput<typeof AccountDeletion>;
