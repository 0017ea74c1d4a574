import { get, type IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync } from "node:zlib";
import { languages } from "#contract/language.ts";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { fill, TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { type Social, startSocialServer } from "#tests/support/people/social-sign-in.ts";

/** Provider address where nothing listens, with a name that must not be parsed as markup. */
const gone = {
  setting: { id: "gone", name: `O'Neil & "Fils" <b>$&</b>`, issuer: "http://127.0.0.1:9", client_id: "x" },
  secret: "x",
};
const names = ["Kivu", "Congo Télécom", gone.setting.name];

let social: Social;
test.beforeAll(async () => {
  social = await startSocialServer([gone]);
});
test.afterAll(() => social.stop());

/** Transferred size, compressed. */
const fetchRaw = (path: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    get(social.site.origin + path, { headers: { "accept-encoding": "br", ...headers } }, async (response) => {
      const body = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode, headers: response.headers, body });
    }).once("error", reject);
  });

test("pages with providers are no heavier than the limit of entry pages, and not sent twice", async () => {
  for (const path of ["/login", "/register"]) {
    for (const language of languages) {
      const first = await fetchRaw(`${path}?lang=${language}`);
      expect(first.headers["content-encoding"]).toBe("br");
      expect(first.body.length).toBeLessThan(14_000);
      const html = brotliDecompressSync(first.body).toString();
      expect(html.match(/<li data-provider=/g)).toHaveLength(3);
      expect(html).not.toContain("<b>");
      expect(html).not.toMatch(/%(id|name|providers)%/);
      const { etag = "" } = first.headers;
      const again = await fetchRaw(`${path}?lang=${language}`, { "if-none-match": etag });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      const other = language === "fr" ? "pt" : "fr";
      expect((await fetchRaw(`${path}?lang=${other}`, { "if-none-match": etag })).status).toBe(200);
    }
  }
});

test("the script hydrates the prerendered page in each language, and neither axe nor the content policy complains", async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  for (const [path, language] of [
    ["/login", "fr"],
    ["/login", "en"],
    ["/register", "pt"],
  ] as const) {
    await page.goto(`${social.site.origin}${path}?lang=${language}`);
    await expect(page.locator("html")).toHaveAttribute("data-taken"); // by its script
    const buttons = page.locator("[data-provider]").getByRole("button");
    const { continueWith } = textsOf[language].auth;
    await expect(buttons).toHaveText(names.map((name) => fill(continueWith, { name })));
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    if (language !== "en") expect(await findAxeViolationsInBothThemes(page), path).toEqual([]);
  }
  expect(complaints).toEqual([]);
});

test("a provider that is down leads back to the form, which reports it and remains usable", async ({ browser }) => {
  const phone = await TestClient.open(browser, social.server, "en");
  const { page, texts } = phone;
  await phone.goTo("/login");
  await page.locator("[data-provider=gone]").getByRole("button").click();
  await expect(page.getByText(texts.errors.unavailable).first()).toBeVisible();
  await expect(page).toHaveURL(`${social.site.origin}/login`);
  await expect(page.getByLabel(texts.auth.phoneNumber)).toBeEditable();
});
