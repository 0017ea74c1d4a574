import type { Locator, Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

/** As a browser with text twice as large: before the first script of each document. */
const doubleText = () => {
  const set = () => document.documentElement?.style.setProperty("font-size", "200%");
  set();
  new MutationObserver(set).observe(document, { childList: true });
};

/** Controls and texts that end beyond the right edge of the screen, outside of rows that scroll sideways. */
const listTooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("a, button, h2, p")]
      .filter((element) => {
        const { width, right } = element.getBoundingClientRect();
        return width > 1 && right > innerWidth && !element.closest("[class*=overflow-x-auto]");
      })
      .map(({ textContent }) => textContent ?? ""),
  );
const boxOf = async (of: Locator) => (await of.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

test("at 320 px with text twice as large names stay readable, headers keep their second line and nothing is too wide; at its usual size the names of the tabs do not touch", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_360, "Ana Mbuyi"), await makePerson(site, 9_361, "Benjamin Kasongo")];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["Bonjour"]);
  const group = await makeGroup(site, ana, "Famille de Kinshasa", [ben]);
  await sendTexts(site, ben, group, ["Réunion samedi"]);
  const phone = await TestClient.open(browser, server);
  const { page } = phone;
  await phone.context.addInitScript(doubleText);
  await page.setViewportSize({ width: 320, height: 640 });
  await phone.signIn(ana);
  for (const language of ["fr", "pt"] as const) {
    if (language !== "fr") {
      await phone.switchLanguage(language);
      await phone.goTo("/app");
    }
    const { texts } = phone;
    const row = phone.conversation("Benjamin Kasongo");
    const name = row.locator("bdi").first();
    await expect(name).toBeVisible();
    // The time does not stand beside the name, which has the width of its row.
    expect((await boxOf(name)).width).toBeGreaterThan(180);
    expect((await boxOf(row.locator("time"))).y).toBeGreaterThan((await boxOf(name)).y + 20);
    expect(await listTooWide(page)).toEqual([]);
    await phone.openRoute(`/app/group/${group}`);
    const subtitle = page.getByRole("main").locator("header").getByText("2", { exact: false }).last();
    await expect(subtitle).toBeInViewport({ ratio: 1 });
    expect((await boxOf(subtitle)).y + (await boxOf(subtitle)).height).toBeLessThanOrEqual(72);
    for (const [path, button] of [
      ["/app/profile", texts.profile.signOut],
      ["/app/help", texts.help.copy],
    ] as const) {
      await phone.openRoute(path);
      await page.getByRole("button", { name: button, exact: true }).scrollIntoViewIfNeeded();
      expect(await listTooWide(page)).toEqual([]);
    }
  }

  await page.evaluate(() => document.documentElement.style.removeProperty("font-size"));
  const tabs = page.getByRole("navigation", { name: phone.texts.shell.navigation });
  const labels = await tabs.locator(".tab-label").evaluateAll((all) =>
    all.map((label) => {
      const range = document.createRange();
      range.selectNodeContents(label);
      const { left, right } = range.getBoundingClientRect();
      return { left, right, isCut: label.scrollWidth > label.clientWidth };
    }),
  );
  expect(labels).toHaveLength(6);
  for (const [index, { left, isCut }] of labels.entries()) {
    expect(isCut).toBe(false);
    expect(left - (labels[index - 1]?.right ?? 0)).toBeGreaterThan(index === 0 ? 0 : 2);
  }
  await phone.close();
});

test("a row of the list does not change under the mouse, except for the buttons in the place of its time", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_363, "Ana Mbuyi"), await makePerson(site, 9_364, "Ben")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ben, id, [
    "Rendez-vous samedi à midi devant le marché central",
    "À demain, sans faute, s'il te plaît",
  ]);
  await callSite(site, "PUT", `/api/mutes/${id}`, { token: ana.token });
  const group = await makeGroup(site, ana, "Famille", [ben]);
  await sendTexts(site, ben, group, ["Réunion samedi"]);
  const laptop = await TestClient.open(browser, server);
  const { page } = laptop;
  await page.setViewportSize({ width: 1280, height: 800 });
  await laptop.signIn(ana);
  const row = laptop.conversation("Ben");
  const preview = row.getByText(/À demain/).last();
  const badge = row.getByText("2", { exact: true });
  const measure = async () => [await boxOf(preview), await boxOf(badge)];
  await expect(badge).toBeVisible();
  await expect(preview).toBeVisible();
  const before = await measure();
  await row.hover();
  await expect(page.getByRole("button", { name: /Options de la conversation avec Ben/ })).toBeVisible();
  expect(await measure()).toEqual(before);
  // The name of a group has its time on the same line as any other name.
  const offsetOf = async (name: string) => {
    const [title, time] = [laptop.conversation(name).locator("bdi").first(), laptop.conversation(name).locator("time")];
    return (await boxOf(time)).y - (await boxOf(title)).y;
  };
  await page.mouse.move(900, 400);
  expect(Math.abs((await offsetOf("Famille")) - (await offsetOf("Ben")))).toBeLessThan(1);
  // A right click leaves no frame around what it was made on.
  await laptop.conversation("Ben").click({ button: "right" });
  await expect(page.getByRole("menu")).toBeVisible();
  await page.mouse.click(900, 700);
  await expect(page.getByRole("menu")).toHaveCount(0);
  expect(await page.evaluate(() => document.querySelectorAll("a:focus-visible, ol:focus-visible").length)).toBe(0);
  await laptop.conversation("Ben").click();
  await laptop.message("À demain, sans faute, s'il te plaît").locator("bdi").first().click({ button: "right" });
  await expect(page.getByRole("menu")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("menu")).toHaveCount(0);
  expect(await page.evaluate(() => document.querySelectorAll("ol:focus-visible").length)).toBe(0);
  await laptop.close();
});
