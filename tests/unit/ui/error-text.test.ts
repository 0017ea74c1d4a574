import { describe, expect, it } from "vitest";
import en from "#i18n/en.json";
import { createTranslate } from "#i18n/setup.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";

const t = createTranslate("en", en);
const limited = (seconds?: number) =>
  toErrorText(new ApiRequestError("rate_limited", 429, seconds === undefined ? undefined : seconds * 1_000), t);

describe("the message of a rate limit", () => {
  it("gives the wait in seconds, minutes, hours or days, never too short", () => {
    expect(limited(1)).toBe("Too many tries. Try again in 1 second.");
    expect(limited(90)).toBe("Too many tries. Try again in 90 seconds.");
    expect(limited(91)).toBe("Too many tries. Try again in 2 minutes.");
    expect(limited(4_320)).toBe("Too many tries. Try again in 72 minutes.");
    expect(limited(5_401)).toBe("Too many tries. Try again in 2 hours.");
    expect(limited(86_400)).toBe("Too many tries. Try again in 24 hours.");
    expect(limited(604_800)).toBe("Too many tries. Try again in 7 days.");
  });

  it("gives no time if the server gave none", () => {
    expect(limited()).toBe(en.errors.rate_limited);
  });
});
