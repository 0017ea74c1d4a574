import * as v from "valibot";
import { handleMaxLength, handleMinLength } from "#contract/limits/people.ts";
import { isReservedHandle } from "./protected-names.ts";

/**
 * Handle of a person: a unique public name by which others find them without their number (docs/decisions/handles.md).
 * Written with "@" in front, stored without it and in lower case.
 */

const typedMaxLength = 100; // a handle as typed, with its "@" and spaces around it
const handlePattern = /^[a-z](?:[._]?[a-z0-9])*$/;

/** Stored form of a typed handle. */
const toStored = (typed: string): string => typed.normalize("NFKC").trim().replace(/^@/, "").toLowerCase();

const isHandle = (handle: string): boolean =>
  handle.length >= handleMinLength && handle.length <= handleMaxLength && handlePattern.test(handle);

/** Handle to look up. */
export const TypedHandle = v.pipe(
  v.string(),
  v.maxLength(typedMaxLength, "invalid_handle"),
  v.transform(toStored),
  v.check(isHandle, "invalid_handle"),
);

/** Handle with its "@" where a number may stand too. */
export const NamedHandle = v.pipe(
  v.string(),
  v.regex(/^\s*@/),
  TypedHandle,
  v.transform((handle) => `@${handle}`),
);

/** Handle without its "@"; undefined for a number. */
export const findNamedHandle = (name: string): string | undefined => (name.startsWith("@") ? name.slice(1) : undefined);

/** Handle to be chosen. The operator's names are checked by the server. */
export const Handle = v.pipe(
  TypedHandle,
  // The comparison takes more than linear time.
  v.check((handle) => !isHandle(handle) || !isReservedHandle(handle, []), "reserved_handle"),
);

export const HandleChange = v.strictObject({ handle: Handle });
export const HandleSearch = v.strictObject({ handle: TypedHandle });

/** Own handle, without "@"; null if there is none. */
export const OwnHandle = v.object({ handle: v.nullable(v.string()) });
export type OwnHandle = v.InferOutput<typeof OwnHandle>;
