import * as v from "valibot";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { createNameSchema } from "#contract/text.ts";
import { isReservedName } from "./protected-names.ts";

const words = /[\p{L}\p{M}]+/gu;
/** Letters of scripts that imitate Latin ones: all but those that are written together with it in East Asia. */
const foreignLetter = /(?![\p{sc=Latn}\p{sc=Zyyy}\p{sc=Zinh}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}])\p{L}/u;

/** Whether a word has Latin letters beside those of another script, with which one name imitates another. */
const mixesScripts = (name: string): boolean =>
  (name.match(words) ?? []).some((word) => /\p{sc=Latn}/u.test(word) && foreignLetter.test(word));

const plainName = createNameSchema(displayNameMaxLength, "invalid_name");
const isOfOneScript = v.check((name: string) => !mixesScripts(name), "mixed_name");

/** Typed name of a person. The server compares it with protected names, too. */
export const TypedDisplayName = v.pipe(plainName, isOfOneScript);

/** Name of a person, as others read it. */
export const DisplayName = v.pipe(
  plainName,
  // Longer names are refused already, and the comparison takes more than linear time.
  v.check((name) => name.length > displayNameMaxLength || !isReservedName(name), "reserved_name"),
  isOfOneScript,
);

const nameProblems = ["mixed_name", "reserved_name", "invalid_name"] as const;

/** Error code of the first problem with a name. */
export const nameProblem = ([issue]: readonly { message: string }[]): (typeof nameProblems)[number] =>
  nameProblems.find((code) => code === issue?.message) ?? "invalid_name";
