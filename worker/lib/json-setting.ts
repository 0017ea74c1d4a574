import * as v from "valibot";

/** Parses a setting written as JSON. Errors name the setting and the path in it, never its value. */
export const parseSetting = <T>(name: string, text: string, schema: v.GenericSchema<unknown, T>): T => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${name} is not valid JSON`);
  }
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  // Messages of own checks are safe; valibot's messages quote the received value.
  const expected = issue.type === "check" ? issue.message : issue.expected;
  throw new Error(`${name} is wrong at ${v.getDotPath(issue) ?? "the top level"}: expected ${expected}`);
};

/** Text of a setting that may be absent or empty. */
export const textOr = (text: unknown, fallback: string): string =>
  typeof text === "string" && text.trim() !== "" ? text : fallback;
