import { thumbHashToDataURL } from "thumbhash";

const hashMinBytes = 5; // header and smallest set of coefficients

/** Placeholder of a picture as a `data:` URL; undefined if the hash is invalid. */
export const toThumbUrl = (thumb: string): string | undefined => {
  try {
    const bytes = Uint8Array.from(atob(thumb.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return bytes.length < hashMinBytes ? undefined : thumbHashToDataURL(bytes);
  } catch {
    return undefined;
  }
};
