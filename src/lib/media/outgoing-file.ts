import * as v from "valibot";
import { cleanFileName, MediaType, otherType } from "#contract/files.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import type { AttachedBody } from "#contract/messages/body.ts";

type BodyWithoutFile<B> = B extends AttachedBody ? Omit<B, "file"> : never;
/** Message body before its upload, with the file it will name. */
export type PreparedFile = { blob: Blob; body: BodyWithoutFile<AttachedBody> };

/** Reason why a file cannot be sent. */
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

/** File name with another extension, for a converted picture. */
export const replaceExtension = (name: string, ending: string): string =>
  cleanFileName(`${cleanFileName(name).replace(/\.[^.]{1,12}$/, "")}.${ending}`);

/** Media type reported by the device, except image types, which are detected from the content. */
const toMediaType = (type: string): MediaType => {
  const known = type.split(";")[0]?.trim().toLowerCase() ?? "";
  return v.is(MediaType, known) && !known.startsWith("image/") ? known : otherType;
};

/**
 * Whether a file looks like a picture, by its type or name, but is sent as a plain file, because it is damaged or this
 * browser cannot decode its format.
 */
export const isUndecodedPicture = (file: Pick<File, "name" | "type">, { body }: PreparedFile): boolean =>
  body.type === "file" && (file.type.startsWith("image/") || /\.hei[cf]$/i.test(file.name));

/** Prepares a file to be sent unchanged. */
export const toPlainFile = (file: File): PreparedFile => {
  requireValidSize(file);
  const name = cleanFileName(file.name);
  return { blob: file, body: { type: "file", name, mime: toMediaType(file.type), size: file.size } };
};
