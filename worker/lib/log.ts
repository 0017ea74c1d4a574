/**
 * Loggable part of an error: name, message and stack. Removed are the parameters of a failed query, which contain
 * numbers, hashes and user content, and the parser's quote of invalid JSON.
 */
const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error;
  const message =
    error instanceof SyntaxError ? "not what was expected" : error.message.replace(/\nparams: [\s\S]*$/, "");
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const because = error.cause === undefined ? [] : [`because of ${describeError(error.cause)}`];
  return [`${error.name}: ${message}`, ...frames, ...because].join("\n");
};

/** Logging of errors without personal data. Errors must be logged by these two functions only. */
export const logError = (what: string, error: unknown): void => console.error(what, describeError(error));
export const logWarning = (what: string, error: unknown): void => console.warn(what, describeError(error));
