import { expect, test } from "#tests/support/browser/browser-test.ts";

test("a visitor is served a page in French and an API that is well", async ({ page, request }) => {
  await page.goto("/");
  await expect(page.locator("html")).toHaveAttribute("lang", "fr");
  expect((await request.get("/api/health")).status()).toBe(200);
});
