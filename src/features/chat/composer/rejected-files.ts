import { mediaErrorTexts } from "#components/messages/media-error-texts.ts";
import type { Language } from "#contract/language.ts";
import { formatList } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { RejectionReason } from "./use-media-preparation.ts";

/** Maximum number of files whose reasons fit into a toast of five seconds; for more, only the names are listed. */
const explainedFilesMax = 2;
/** Longer names are shortened in the middle, because the beginning and the extension identify a file. */
const shortNameChars = 32;
const shortNameEndChars = 10;

const shortenFileName = (name: string): string => {
  const chars = [...name];
  const short =
    chars.length > shortNameChars
      ? [...chars.slice(0, shortNameChars - shortNameEndChars - 1), "…", ...chars.slice(-shortNameEndChars)].join("")
      : name;
  return isolateBidi(short);
};

/** Lists the files that were not sent; up to `explainedFilesMax` files with the reason, one per line. */
export const describeRejectedFiles = (
  files: { name: string; reason: RejectionReason }[],
  t: Translate,
  language: Language,
): string =>
  files.length > explainedFilesMax
    ? formatList(
        files.map(({ name }) => shortenFileName(name)),
        language,
      )
    : files
        .map(({ name, reason }) =>
          t("chat.attach.leftWhy", { name: shortenFileName(name), why: t(mediaErrorTexts[reason]) }),
        )
        .join("\n");
