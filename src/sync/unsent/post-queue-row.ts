import * as v from "valibot";
import { errorCodes } from "#contract/errors.ts";
import { Uuid } from "#contract/ids.ts";
import { audiences } from "#contract/settings/settings.ts";

/** Status waiting to be published. The id of the bytes of its picture is its own. */
export const PostQueueRow = v.looseObject({
  id: Uuid,
  content: v.string(),
  picture: v.nullable(v.object({ width: v.number(), height: v.number(), thumb: v.string() })),
  /** Absent if the settings were unknown: the setting applies. */
  audience: v.optional(v.picklist(audiences)),
  /** Refused change of the exceptions for statuses; sent again with the status. */
  excepted: v.optional(v.object({ before: v.array(Uuid), wanted: v.array(Uuid) })),
  createdAt: v.number(),
  /** "cancelled": no longer wanted; the server may have yet to be told. */
  state: v.picklist(["queued", "failed", "cancelled"]),
  error: v.optional(v.picklist(errorCodes)),
  /** Number of attempts that may have reached the server. */
  attempts: v.number(),
  /** Device time of the last change of the row. */
  at: v.number(),
});
export type PostQueueRow = v.InferOutput<typeof PostQueueRow>;
