import { thumbHashToDataURL } from "thumbhash";

const hashMinBytes = 5; // the header and the smallest set of coefficients

/** What stands in a picture's place until it is here: a `data:` address, undefined when the hash is none. */
export const toThumbUrl = (thumb: string): string | undefined => {
  try {
    const bytes = Uint8Array.from(atob(thumb.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return bytes.length < hashMinBytes ? undefined : thumbHashToDataURL(bytes);
  } catch {
    return undefined;
  }
};
