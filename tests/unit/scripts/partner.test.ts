import { afterEach, expect, test, vi } from "vitest";
import { findPartner } from "#features/services/partner.ts";
import { chosenPartner, partnerAddress } from "#scripts/build/partner.mjs";

const dangerous = [
  "http://partner.example/",
  "javascript:alert(1)",
  "data:text/html,x",
  "//partner.example",
  "partner.example",
  "/app/services",
];

afterEach(() => vi.unstubAllGlobals());

test("the build takes an https address or none, and stops at anything else", () => {
  expect(partnerAddress("https://partner.example/lisolo?from=app")).toBe("https://partner.example/lisolo?from=app");
  expect(partnerAddress("")).toBeUndefined();
  expect(partnerAddress(undefined)).toBeUndefined();
  for (const address of [...dangerous, "https://somebody@partner.example/", 7]) {
    expect(() => partnerAddress(address), String(address)).toThrow("PARTNER_URL");
  }
});

test("only the demo has an example partner, and not where another is named", () => {
  expect(chosenPartner("", true)).toMatch(/^https:/);
  expect(chosenPartner("", false)).toBeUndefined();
  expect(chosenPartner("https://partner.example/", true)).toBe("https://partner.example/");
});

test("the screen leads only to an https address", () => {
  const stub = (content: string | undefined) =>
    vi.stubGlobal("document", { querySelector: () => (content === undefined ? null : { content }) });
  stub("https://partner.example/");
  expect(findPartner()?.href).toBe("https://partner.example/");
  for (const content of [undefined, "", ...dangerous]) {
    stub(content);
    expect(findPartner(), content).toBeUndefined();
  }
});
