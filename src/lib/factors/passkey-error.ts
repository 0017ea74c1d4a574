import type { Translate } from "#i18n/setup.ts";
import { toErrorText } from "#lib/http/error-text.ts";

/**
 * `already_added`: the device or key is registered already. `unsupported`: it cannot verify its user or store a
 * passkey.
 */
export type PasskeyProblem = "already_added" | "unsupported" | "failed";

export class PasskeyError extends Error {
  constructor(
    readonly problem: PasskeyProblem,
    cause: unknown,
  ) {
    super(problem, { cause });
    this.name = "PasskeyFailure";
  }
}

export const passkeyErrorKeys = {
  already_added: "auth.passkeyAlreadyAdded",
  unsupported: "auth.passkeyUnsupported",
  failed: "auth.passkeyFailed",
} as const satisfies Record<PasskeyProblem, string>;

/** Localised message of any caught error. */
export const toPasskeyErrorText = (error: unknown, t: Translate): string =>
  error instanceof PasskeyError ? t(passkeyErrorKeys[error.problem]) : toErrorText(error, t);
