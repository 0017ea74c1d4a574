import * as v from "valibot";
import { errorCodes } from "#contract/errors.ts";
import { Uuid } from "#contract/ids.ts";
import { audiences } from "#contract/settings/settings.ts";
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

/** Post waiting to be published. The bytes of its picture are in `blobs` under its id. */
export const PostQueueRow = v.object({
  id: Uuid,
  content: v.string(),
  picture: v.nullable(v.object({ width: v.number(), height: v.number(), thumb: v.string() })),
  /** Absent if the settings were unknown, and in rows of earlier versions: the setting applies. */
  audience: v.optional(v.picklist(audiences)),
  /** Refused change of the exceptions for statuses; sent again with the status. */
  excepted: v.optional(v.object({ before: v.array(Uuid), wanted: v.array(Uuid) })),
  createdAt: v.number(),
  /** "cancelled": no longer wanted; the server may have yet to be told. */
  state: v.picklist(["queued", "failed", "cancelled"]),
  error: v.optional(v.picklist(errorCodes)),
  /** Number of attempts that may have reached the server. */
  attempts: v.number(),
});
export type PostQueueRow = v.InferOutput<typeof PostQueueRow>;
