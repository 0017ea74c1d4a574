import * as v from "valibot";
import { displayNameMaxLength } from "./limits.ts";
import { isReservedName } from "./reserved-names.ts";
import { createNameSchema } from "./text.ts";

export const DisplayName = v.pipe(
  createNameSchema(displayNameMaxLength, "invalid_name"),
  // Longer names are refused already, and the comparison takes more than linear time.
  v.check((name) => name.length > displayNameMaxLength || !isReservedName(name), "reserved_name"),
);

/** Error code of the first problem with a name. */
export const nameProblem = ([issue]: readonly { message: string }[]): "invalid_name" | "reserved_name" =>
  issue?.message === "reserved_name" ? "reserved_name" : "invalid_name";
