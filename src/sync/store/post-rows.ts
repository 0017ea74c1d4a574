import type { Uuid } from "#contract/ids.ts";
import type { RestrictedAudience } from "#contract/tala.ts";

/** Post of the Tala feed that this device received or published. */
export type PostRow = {
  /** Position in the feed. */
  number: number;
  id: Uuid;
  author: Uuid;
  username: string;
  avatar: string | null;
  at: number;
  content: string;
  picture: { width: number; height: number; thumb: string } | null;
  /** Absent if everybody may read it. */
  audience?: RestrictedAudience;
  /** Time of first reception, and the last time a feed page contained it. */
  heardAt: number;
  checkedAt: number;
  /** Gap below this post: value of `before` that requests the page with the missing posts. */
  below?: number;
  /** Published here and not yet contained in a received page. */
  loose?: 1;
  /** Published from this device. */
  here?: 1;
  /** Time when this person deleted it; a page created earlier may still contain it. */
  goneAt?: number;
};
