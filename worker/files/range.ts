/** Which bytes a request asks for (RFC 9110 §14): all, a part, or a part that is not there. */
export type Wanted = "all" | "unsatisfiable" | { offset: number; length: number };

const oneRange = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i;

const toWanted = (header: string, size: number): Wanted => {
  const [, from = "", to = ""] = oneRange.exec(header) ?? [];
  // Another unit, several ranges, or no sense: a server may answer with everything.
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

/** `If-Range` names the version that the part is to continue; another one is answered as a whole. */
export const readRange = (headers: Headers, size: number, etag: string): Wanted => {
  const range = headers.get("range");
  const ifRange = headers.get("if-range");
  if (range === null || (ifRange !== null && ifRange !== etag)) return "all";
  return toWanted(range, size);
};

/** Whether the asker has this version already (RFC 9110 §13.1.2, weak comparison). */
export const isKnown = (headers: Headers, etag: string): boolean => {
  const known = headers.get("if-none-match");
  if (known === null) return false;
  return known.trim() === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
};
