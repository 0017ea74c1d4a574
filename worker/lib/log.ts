/**
 * What of an error a log may keep: its kind, what the runtime says of it, and where it happened. A failed query's
 * parameters are numbers, hashes and what somebody wrote; a text that is no JSON is quoted by the parser.
 */
const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error;
  const message =
    error instanceof SyntaxError ? "not what was expected" : error.message.replace(/\nparams: [\s\S]*$/, "");
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const because = error.cause === undefined ? [] : [`because of ${describeError(error.cause)}`];
  return [`${error.name}: ${message}`, ...frames, ...because].join("\n");
};

/** Errors come into the log by these two only, and with nothing of what a person typed or is known by. */
export const logError = (what: string, error: unknown): void => console.error(what, describeError(error));
export const logWarning = (what: string, error: unknown): void => console.warn(what, describeError(error));
