import { isInline, type MediaType } from "#contract/files.ts";

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
