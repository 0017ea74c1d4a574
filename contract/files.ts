import * as v from "valibot";
import { Uuid } from "./ids.ts";
import { fileMaxBytes, fileNameMaxLength, filePartBytes } from "./limits/files.ts";
import { isPlainLine, toPlainLine } from "./text.ts";

/**
 * Upload of an attachment. The device chooses its id (a UUIDv7, so that requests are idempotent), announces the size,
 * uploads parts in any order and any number of times, and completes the file. Only then does the server inspect it, and
 * only a ready file may be attached to a message.
 */

/**
 * Types that the server recognizes by signature and serves inline. Everything else is `otherType`, for download only.
 */
export const imageTypes = ["image/jpeg", "image/png", "image/webp", "image/gif"] as const;
export const audioTypes = ["audio/webm", "audio/ogg", "audio/mp4", "audio/mpeg", "audio/wav"] as const;
const videoTypes = ["video/webm", "video/mp4"] as const;
export const otherType = "application/octet-stream";
export const MediaType = v.picklist([...imageTypes, ...audioTypes, ...videoTypes, "application/pdf", otherType]);
export type MediaType = v.InferOutput<typeof MediaType>;

export const isInline = (type: MediaType): boolean => type !== "application/pdf" && type !== otherType;

/** File name from the device: one line without path separators, invisible or reordering characters. */
export const FileName = v.pipe(
  v.string(),
  v.minLength(1, "invalid_file_name"),
  v.maxLength(fileNameMaxLength, "invalid_file_name"),
  v.check((name) => isPlainLine(name) && !/[/\\]/.test(name) && !/^\.+$/.test(name), "invalid_file_name"),
);

/** Converts any name to a valid `FileName`, keeping the extension. */
export const cleanFileName = (name: string): string => {
  const base = name.split(/[/\\]/).at(-1) ?? "";
  const plain = toPlainLine(base.normalize("NFC")).trim();
  const end = /\.[^.]{1,12}$/.exec(plain)?.[0] ?? "";
  const cut =
    plain.length <= fileNameMaxLength ? plain : `${toPlainLine(plain.slice(0, fileNameMaxLength - end.length))}${end}`; // an emoji may have been cut
  return cut === "" || /^\.+$/.test(cut) ? "file" : cut;
};

const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(fileMaxBytes, "file_too_large"));

export const NewFile = v.strictObject({ name: FileName, size: Size });
export type NewFile = v.InferOutput<typeof NewFile>;

/** Number of parts. Parts are numbered from 0; each has `filePartBytes`, the last one the rest. */
export const partCount = (size: number): number => Math.ceil(size / filePartBytes);
export const partBytes = (size: number, part: number): number =>
  Math.max(0, Math.min(filePartBytes, size - part * filePartBytes));

/** Upload state. `received` lists the stored parts; `ready` describes the inspected file. */
export const FileState = v.object({
  id: Uuid,
  size: v.number(), // announced size during the upload; stored size without metadata once ready
  received: v.array(v.number()),
  ready: v.nullable(v.object({ type: MediaType, width: v.nullable(v.number()), height: v.nullable(v.number()) })),
});
export type FileState = v.InferOutput<typeof FileState>;

export const filePath = (file: Uuid): string => `/api/files/${file}`;
export const partPath = (file: Uuid, part: number): string => `/api/files/${file}/parts/${part}`;
/** Path of an attachment for members of a conversation. */
export const readPath = (conversation: string, file: Uuid): string =>
  `/api/conversations/${conversation}/files/${file}`;
