import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";

/** SPEC.md §7 delete-user-account: names whose account is to go, which can only be one's own. */
export const AccountDeletion = v.strictObject({ user_id: Uuid });
export type AccountDeletion = v.InferInput<typeof AccountDeletion>;
