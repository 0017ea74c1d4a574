import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { languages, toManifestPath } from "#contract/language.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";
import { root } from "#tests/support/server/state.ts";

test.use(withServiceWorker);

/** Manifest of the page as the browser reads it. */
const readManifest = async (page: Page) => {
  const devtools = await page.context().newCDPSession(page);
  const { url, errors, data, manifest } = await devtools.send("Page.getAppManifest");
  const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
  await devtools.detach();
  return { path: new URL(url).pathname, errors, installabilityErrors, data: JSON.parse(data ?? "{}"), manifest };
};

test("the browser accepts the manifest and would install the app; its shortcuts open; it follows the language that the person chooses, also in a cached page", async ({
  browser,
  server,
}) => {
  const person = await makePerson(toSite(server), 9_800);
  const phone = await TestClient.open(browser, server);
  const { page, context, texts } = phone;
  await page.goto("/login");
  const { path, data } = await readManifest(page);
  expect(path).toBe(toManifestPath("fr"));
  const [newChat, senga] = data.shortcuts.map(({ url }: { url: string }) => url);
  await phone.signIn(person);
  await waitForOfflineReady(page);
  for (const shortcut of [newChat, senga]) {
    await page.goto(shortcut);
    await expect(
      shortcut === newChat
        ? page.getByRole("dialog", { name: texts.masolo.newChat })
        : page.getByRole("heading", { level: 1, name: texts.senga.title }),
    ).toBeVisible();
    const { path: manifestPath, errors, installabilityErrors, manifest } = await readManifest(page);
    expect({ manifestPath, errors }).toEqual({ manifestPath: toManifestPath("fr"), errors: [] });
    expect(installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito")).toEqual([]);
    expect(manifest.shareTarget).toMatchObject({ action: `${server.origin}/app/share`, method: "kPost" });
    expect(manifest.shortcuts).toHaveLength(2);
  }

  await phone.openRoute("/app/profile");
  await page.getByRole("group", { name: texts.common.language }).getByText("Português", { exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: textsOf.pt.profile.title })).toBeVisible();
  expect((await readManifest(page)).path).toBe(toManifestPath("pt"));
  await waitForOfflineReady(page);
  await context.setOffline(true);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: textsOf.pt.profile.title })).toBeVisible();
  await expect(page.locator("link[rel=manifest]")).toHaveAttribute("href", toManifestPath("pt"));
  await phone.close();
});

test("the manifest of each language names its shortcuts in it and takes what is shared", async ({ request }) => {
  for (const language of languages) {
    const texts = textsOf[language];
    const manifest = await (await request.get(toManifestPath(language))).json();
    expect(manifest.lang).toBe(language);
    expect(manifest.share_target.params).toMatchObject({ title: "title", text: "text", url: "url" });
    const names = manifest.shortcuts.map(({ name }: { name: string }) => name);
    expect(names).toEqual([texts.masolo.newChat, texts.shell.tabs.senga]);
  }
});

test("every picture of the manifest exists and has the announced size and type", async ({ page }) => {
  await page.goto("/login");
  const { data } = await readManifest(page);
  const pictures: { src: string; sizes: string; type: string }[] = [...data.icons, ...data.screenshots];
  for (const { src, sizes, type } of pictures) {
    const response = await page.request.get(src);
    expect({ src, type: response.headers()["content-type"] }).toEqual({ src, type });
    const size = await page.evaluate(async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      return `${image.naturalWidth}x${image.naturalHeight}`;
    }, src);
    if (sizes !== "any") expect({ src, size }).toEqual({ src, size: sizes });
  }
  const bytes = data.screenshots.map(({ src }: { src: string }) => readFileSync(join(root, "public", src)).length);
  expect(Math.max(...bytes)).toBeLessThan(60_000);
});

test("robots.txt is a text that allows the pages and excludes the API", async ({ request }) => {
  const response = await request.get("/robots.txt");
  expect(response.headers()["content-type"]).toContain("text/plain");
  expect((await response.text()).split("\n").filter((line) => line !== "")).toEqual([
    "User-agent: *",
    "Disallow: /api/",
  ]);
});
