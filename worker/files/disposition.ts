import { isInline, type MediaType } from "#contract/files.ts";

/** Everything but RFC 8187's `attr-char`, of which `encodeURIComponent` leaves these. */
const encodeExtendedValue = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * `Content-Disposition` (RFC 6266): shown in a page only when it is a picture, sound or film, else to be saved; with
 * the name in letters that every client reads, and as it is for those that know UTF-8.
 */
export const toContentDisposition = (name: string, type: MediaType): string => {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return `${isInline(type) ? "inline" : "attachment"}; filename="${plain}"; filename*=UTF-8''${encodeExtendedValue(name)}`;
};
