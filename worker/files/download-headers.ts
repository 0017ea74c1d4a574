import { isInline, type MediaType } from "#contract/files.ts";

/** Byte range of a request (RFC 9110 §14): everything, a part, or an unsatisfiable one. */
export type RequestedRange = "all" | "unsatisfiable" | { offset: number; length: number };

const unit = "bytes=";
const headerMaxLength = 64; // the longest range of a file of the maximum size takes 24 characters
const noRange = { from: "", to: "" };

/** Bounds of a header with one range; "" for an omitted bound and for anything else. */
const parseRangeBounds = (header: string): { from: string; to: string } => {
  if (header.length > headerMaxLength || !header.toLowerCase().startsWith(unit)) return noRange;
  const [from, to, ...more] = header
    .slice(unit.length)
    .split("-")
    .map((bound) => bound.trim());
  if (from === undefined || to === undefined || more.length > 0) return noRange;
  return /^\d*$/.test(from) && /^\d*$/.test(to) ? { from, to } : noRange;
};

const toRequestedRange = (header: string, size: number): RequestedRange => {
  const { from, to } = parseRangeBounds(header);
  // Another unit, several ranges or an invalid one: a server may respond with the whole file.
  if (from === "" && to === "") return "all";
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length === 0 ? "unsatisfiable" : { offset: size - length, length };
  }
  const offset = Number(from);
  if (to !== "" && Number(to) < offset) return "all";
  if (offset >= size) return "unsatisfiable";
  const end = to === "" ? size : Math.min(Number(to) + 1, size);
  return { offset, length: end - offset };
};

/**
 * Byte range of a request. `If-Range` names the version to continue; for another version the whole file is returned.
 */
export const readRequestedRange = (headers: Headers, size: number, etag: string): RequestedRange => {
  const range = headers.get("range");
  const ifRange = headers.get("if-range");
  if (range === null || (ifRange !== null && ifRange !== etag)) return "all";
  return toRequestedRange(range, size);
};

/** Escapes the characters outside RFC 8187's `attr-char` that `encodeURIComponent` leaves. */
const encodeExtendedValue = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * `Content-Disposition` (RFC 6266): inline for images, audio and video, else attachment; with an ASCII name for all
 * clients and a UTF-8 name for those that support it.
 */
export const toContentDisposition = (name: string, type: MediaType): string => {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return `${isInline(type) ? "inline" : "attachment"}; filename="${plain}"; filename*=UTF-8''${encodeExtendedValue(name)}`;
};
