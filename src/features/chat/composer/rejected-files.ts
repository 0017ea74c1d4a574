import type { Language } from "#contract/language.ts";
import { formatList } from "#i18n/format.ts";
import type { TextKey, Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { RejectionReason } from "./use-media-preparation.ts";

export const rejectionTexts = {
  tooLarge: "chat.attach.tooLarge",
  empty: "chat.attach.empty",
  tooManyPixels: "chat.attach.tooManyPixels",
  unreadable: "chat.attach.unreadable",
} as const satisfies Record<RejectionReason, TextKey>;

/** Of more files than this a message for five seconds gives the names alone. */
const explainedFilesMax = 2;
/** A longer name loses its middle: its beginning and its ending are what it is known by. */
const shortNameChars = 32;
const shortNameEndChars = 10;

const shortenFileName = (name: string): string => {
  const letters = [...name];
  const short =
    letters.length > shortNameChars
      ? [...letters.slice(0, shortNameChars - shortNameEndChars - 1), "…", ...letters.slice(-shortNameEndChars)].join(
          "",
        )
      : name;
  return isolateBidi(short);
};

/** Which files stayed when the others left, and, of a few, why: one to a line. */
export const describeRejectedFiles = (
  left: { name: string; why: RejectionReason }[],
  t: Translate,
  language: Language,
): string =>
  left.length > explainedFilesMax
    ? formatList(
        left.map(({ name }) => shortenFileName(name)),
        language,
      )
    : left
        .map(({ name, why }) => t("chat.attach.leftWhy", { name: shortenFileName(name), why: t(rejectionTexts[why]) }))
        .join("\n");
