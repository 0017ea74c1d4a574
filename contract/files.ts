import * as v from "valibot";
import { Uuid } from "./ids.ts";
import { fileMaxBytes, fileNameMaxLength, filePartBytes } from "./limits.ts";
import { isPlainLine } from "./text.ts";

/**
 * A file on its way into a chat. The phone names it (a UUIDv7, so that a lost answer costs nothing), announces
 * its size, brings its parts in any order, as often as it likes, and completes it: only then does the server
 * look at what it is, and only what is ready may be named by a message.
 */

/** What the server recognised by its first bytes and shows inside a page. Everything else is `otherType`, to be saved only. */
export const imageTypes = ["image/jpeg", "image/png", "image/webp", "image/gif"] as const;
export const audioTypes = ["audio/webm", "audio/ogg", "audio/mp4", "audio/mpeg", "audio/wav"] as const;
const videoTypes = ["video/webm", "video/mp4"] as const;
export const otherType = "application/octet-stream";
export const MediaType = v.picklist([...imageTypes, ...audioTypes, ...videoTypes, "application/pdf", otherType]);
export type MediaType = v.InferOutput<typeof MediaType>;

export const isInline = (type: MediaType): boolean => type !== "application/pdf" && type !== otherType;

/** A name as the person's phone had it: one line, no path, nothing that hides or reorders. */
export const FileName = v.pipe(
  v.string(),
  v.minLength(1, "invalid_file_name"),
  v.maxLength(fileNameMaxLength, "invalid_file_name"),
  v.check((name) => isPlainLine(name) && !/[/\\]/.test(name) && !/^\.+$/.test(name), "invalid_file_name"),
);

/** Makes any name one that `FileName` takes, its end (where the kind of file stands) kept. */
export const cleanFileName = (name: string): string => {
  const base = name.split(/[/\\]/).at(-1) ?? "";
  const plain = Array.from(base.normalize("NFC"))
    .filter((char) => isPlainLine(char))
    .join("")
    .trim();
  const end = /\.[^.]{1,12}$/.exec(plain)?.[0] ?? "";
  const cut =
    plain.length <= fileNameMaxLength
      ? plain
      : `${plain.slice(0, fileNameMaxLength - end.length).replace(/[\ud800-\udbff]$/, "")}${end}`;
  return cut === "" || /^\.+$/.test(cut) ? "file" : cut;
};

const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(fileMaxBytes, "file_too_large"));

export const NewFile = v.strictObject({ name: FileName, size: Size });
export type NewFile = v.InferOutput<typeof NewFile>;

/** Parts are numbered from 0; each has `filePartBytes`, but the last what remains. */
export const partCount = (size: number): number => Math.ceil(size / filePartBytes);
export const partBytes = (size: number, part: number): number =>
  Math.max(0, Math.min(filePartBytes, size - part * filePartBytes));

/** Where a file stands. `received` lists the parts that need not be sent again; when ready, what it turned out to be. */
export const FileState = v.object({
  id: Uuid,
  size: v.number(), // as announced while it is received; as stored (metadata taken out) once ready
  received: v.array(v.number()),
  ready: v.nullable(v.object({ type: MediaType, width: v.nullable(v.number()), height: v.nullable(v.number()) })),
});
export type FileState = v.InferOutput<typeof FileState>;

export const filePath = (file: Uuid): string => `/api/files/${file}`;
export const partPath = (file: Uuid, part: number): string => `/api/files/${file}/parts/${part}`;
/** Where a member of a conversation reads a file that one of its messages names. */
export const readPath = (conversation: string, file: Uuid): string =>
  `/api/conversations/${conversation}/files/${file}`;
