import type { Uuid } from "../../contract/ids";

/** In the place of somebody whose account is gone. */
export const nobody: Uuid = "00000000-0000-0000-0000-000000000000";

/** A name in R2 that begins with whose it is, made nobody's. */
export const withoutOwner = (key: string): { owner: Uuid; key: string } => ({
  owner: nobody,
  key: nobody + key.slice(nobody.length),
});
