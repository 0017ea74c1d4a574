import { expect, type Locator, type Page } from "@playwright/test";
import { Secret, TOTP } from "otpauth";
import { totpStepSeconds } from "#contract/limits/authentication.ts";

/** Checks that the whole value is selected, so that typing replaces it. */
export const expectSelected = (field: Locator): Promise<void> =>
  expect
    .poll(() =>
      field.evaluate(
        (input: HTMLInputElement) =>
          input === document.activeElement && input.selectionStart === 0 && input.selectionEnd === input.value.length,
      ),
    )
    .toBe(true);

/** Code app that was given the secret shown on the page. */
export class CodeApp {
  readonly #totp: TOTP;
  #lastStep = 0;

  private constructor(secret: string) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(secret) });
  }

  static async readFrom(page: Page): Promise<CodeApp> {
    const secret = (await page.getByRole("dialog").locator("[data-secret]").textContent()) ?? "";
    return new CodeApp(secret.replace(/\s/g, ""));
  }

  /** An unused code: the present one, or the next one, which is accepted as well. At most two in half a minute. */
  next(): string {
    const step = Math.max(Math.floor(Date.now() / 1_000 / totpStepSeconds), this.#lastStep + 1);
    this.#lastStep = step;
    return this.#totp.generate({ timestamp: step * totpStepSeconds * 1_000 });
  }

  /** Six digits that differ from all codes of these minutes. */
  wrong(): string {
    const here = Math.floor(Date.now() / 1_000 / totpStepSeconds);
    const near = [-2, -1, 0, 1, 2].map((n) => this.#totp.generate({ timestamp: (here + n) * totpStepSeconds * 1_000 }));
    return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !near.includes(code)) ?? "";
  }
}
