type ObjectValue = Record<string, unknown>;
const isObjectValue = (value: unknown): value is ObjectValue => typeof value === "object" && value !== null;

/** Structural equality of plain data; functions and other values are compared by identity. */
export const isDeepEqual = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (!isObjectValue(a) || !isObjectValue(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isDeepEqual(a[key], b[key]));
};
