import type { Language } from "#contract/language.ts";
import { formatList } from "#i18n/format.ts";
import type { TextKey, Translate } from "#i18n/setup.ts";
import { isolate } from "#lib/text/bidi.ts";
import type { Refused } from "./use-media-preparation.ts";

export const refusedTexts = {
  tooLarge: "chat.attach.tooLarge",
  empty: "chat.attach.empty",
  tooManyPixels: "chat.attach.tooManyPixels",
  unreadable: "chat.attach.unreadable",
} as const satisfies Record<Refused, TextKey>;

/** Of more files than this a message for five seconds gives the names alone. */
const explainedMax = 2;
/** A longer name loses its middle: its beginning and its ending are what it is known by. */
const nameMax = 32;
const nameEnd = 10;

const nameOf = (name: string): string => {
  const letters = [...name];
  const short =
    letters.length > nameMax
      ? [...letters.slice(0, nameMax - nameEnd - 1), "…", ...letters.slice(-nameEnd)].join("")
      : name;
  return isolate(short);
};

/** Which files stayed when the others left, and, of a few, why: one to a line. */
export const leftBehind = (left: { name: string; why: Refused }[], t: Translate, language: Language): string =>
  left.length > explainedMax
    ? formatList(
        left.map(({ name }) => nameOf(name)),
        language,
      )
    : left
        .map(({ name, why }) => t("chat.attach.leftWhy", { name: nameOf(name), why: t(refusedTexts[why]) }))
        .join("\n");
