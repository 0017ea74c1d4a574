import type { StoredBody } from "#contract/conversations.ts";

type ObjectValue = Record<string, unknown>;
const isObjectValue = (value: unknown): value is ObjectValue => typeof value === "object" && value !== null;

/**
 * Every read of the store makes new objects; what is drawn from them is drawn again only when what it shows is other
 * than before.
 */
export const isDeepEqual = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (!isObjectValue(a) || !isObjectValue(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isDeepEqual(a[key], b[key]));
};

/** Whether something can be done with it. */
export const hasMessageMenu = (body: StoredBody): boolean => hasShareableContent(body) || body.type === "call";

/** Whether there is something in it to copy, forward or save. */
export const hasShareableContent = (body: StoredBody): boolean =>
  body.type === "text" || body.type === "image" || body.type === "file" || body.type === "voice";
