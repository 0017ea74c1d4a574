import { nobody, type Uuid } from "#contract/ids.ts";

/** A name in R2 that begins with whose it is, made nobody's. */
export const withoutOwner = (key: string): { owner: Uuid; key: string } => ({
  owner: nobody,
  key: nobody + key.slice(nobody.length),
});
