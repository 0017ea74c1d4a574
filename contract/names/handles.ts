import * as v from "valibot";
import { handleMaxLength, handleMinLength } from "#contract/limits/people.ts";
import { isOfficialName, isRoleName, serviceBrand, toSkeleton } from "./display-names.ts";

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

/**
 * Appearance of a handle. Two handles with the same skeleton can be mistaken for each other, so only one of them can
 * exist: separators do not count, and look-alikes are one letter.
 */
export const toHandleSkeleton = (handle: string): string =>
  handle
    .replace(/[._]/g, "")
    .replace(/0/g, "o")
    .replace(/[1l]/g, "i")
    .replace(/5/g, "s")
    .replace(/rn/g, "m")
    .replace(/vv/g, "w");

/** Whether a name contains a reserved one as a word of its own, or is an official name of it. */
const containsName = (name: string, reserved: string): boolean =>
  isOfficialName(name, reserved) || name.split(" ").some((word) => toSkeleton(word) === reserved);

/**
 * Whether a handle is reserved: words for official roles alone, the name of the service at its beginning or with such
 * a word, and likewise the operator's names (banks, authorities) in any place.
 */
export const isReservedHandle = (handle: string, operatorNames: readonly string[]): boolean => {
  const words = handle.replace(/[._]/g, " ");
  const readings = [words, words.replace(/\d+(?= |$)/g, "")]; // "rawbank24" is read as "rawbank" too
  const names = operatorNames.map(toSkeleton).filter((name) => name !== "");
  return readings.some(
    (reading) =>
      isRoleName(reading) ||
      toSkeleton(reading).startsWith(serviceBrand) ||
      isOfficialName(reading, serviceBrand) ||
      names.some((name) => containsName(reading, name)),
  );
};

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
