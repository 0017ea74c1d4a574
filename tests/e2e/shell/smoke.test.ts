import { expect, test } from "#tests/support/browser/browser-test.ts";

test("a visitor gets a page in French and a healthy API", async ({ page, request }) => {
  await page.goto("/");
  await expect(page.locator("html")).toHaveAttribute("lang", "fr");
  expect((await request.get("/api/health")).status()).toBe(200);
});
