import * as v from "valibot";
import type { AttachedBody } from "#contract/conversations.ts";
import { cleanFileName, MediaType, otherType } from "#contract/files.ts";
import { fileMaxBytes } from "#contract/limits.ts";

type BodyWithoutFile<B> = B extends AttachedBody ? Omit<B, "file"> : never;
/** A message to be and the file it carries, which has no id yet. */
export type PreparedFile = { blob: Blob; body: BodyWithoutFile<AttachedBody> };

/** Why a file cannot be sent at all. */
export class MediaError extends Error {
  constructor(readonly code: "tooLarge" | "empty" | "tooManyPixels" | "unreadable") {
    super(code);
    this.name = "MediaRefusal";
  }
}

export const requireValidSize = (blob: Blob): void => {
  if (blob.size === 0) throw new MediaError("empty");
  if (blob.size > fileMaxBytes) throw new MediaError("tooLarge");
};

/** The name with another ending, for a picture that became another type. */
export const replaceExtension = (name: string, ending: string): string =>
  cleanFileName(`${cleanFileName(name).replace(/\.[^.]{1,12}$/, "")}.${ending}`);

/** A type as the phone tells it; pictures are those that were seen to be. */
const toMediaType = (type: string): MediaType => {
  const known = type.split(";")[0]?.trim().toLowerCase() ?? "";
  return v.is(MediaType, known) && !known.startsWith("image/") ? known : otherType;
};

/** A file as it is. */
export const toPlainFile = (file: File): PreparedFile => {
  requireValidSize(file);
  const name = cleanFileName(file.name);
  return { blob: file, body: { type: "file", name, mime: toMediaType(file.type), size: file.size } };
};
