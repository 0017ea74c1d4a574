import type { StoredBody } from "#contract/conversations.ts";

type Plain = Record<string, unknown>;
const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null;

/**
 * Every read of the store makes new objects; what is drawn from them is drawn again only when what it shows is other
 * than before.
 */
export const isSame = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
};

/** Whether something can be done with it. */
export const hasDeeds = (body: StoredBody): boolean => isReadable(body) || body.type === "call";

/** Whether there is something in it to copy, forward or save. */
export const isReadable = (body: StoredBody): boolean =>
  body.type === "text" || body.type === "image" || body.type === "file" || body.type === "voice";
