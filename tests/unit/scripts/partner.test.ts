import { afterEach, expect, test, vi } from "vitest";
import { findPartnerUrl } from "#features/services/partner.ts";
import { parsePartnerUrl, resolvePartnerUrl } from "#scripts/build/partner.mjs";

const dangerous = [
  "http://partner.example/",
  "javascript:alert(1)",
  "data:text/html,x",
  "//partner.example",
  "partner.example",
  "/app/services",
];

afterEach(() => vi.unstubAllGlobals());

test("the build accepts an https address or none, and stops at anything else", () => {
  expect(parsePartnerUrl("https://partner.example/lisolo?from=app")).toBe("https://partner.example/lisolo?from=app");
  expect(parsePartnerUrl("")).toBeUndefined();
  expect(parsePartnerUrl(undefined)).toBeUndefined();
  for (const address of [...dangerous, "https://somebody@partner.example/", 7]) {
    expect(() => parsePartnerUrl(address), String(address)).toThrow("PARTNER_URL");
  }
});

test("only the demo has an example partner, and not if another is configured", () => {
  expect(resolvePartnerUrl("", true)).toMatch(/^https:/);
  expect(resolvePartnerUrl("", false)).toBeUndefined();
  expect(resolvePartnerUrl("https://partner.example/", true)).toBe("https://partner.example/");
});

test("the screen links only to an https address", () => {
  const stub = (content: string | undefined) =>
    vi.stubGlobal("document", { querySelector: () => (content === undefined ? null : { content }) });
  stub("https://partner.example/");
  expect(findPartnerUrl()?.href).toBe("https://partner.example/");
  for (const content of [undefined, "", ...dangerous]) {
    stub(content);
    expect(findPartnerUrl(), content).toBeUndefined();
  }
});
