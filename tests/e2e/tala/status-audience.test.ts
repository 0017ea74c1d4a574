import type { Page } from "@playwright/test";
import * as v from "valibot";
import { PostPage } from "#contract/tala.ts";
import { readAttachmentDrafts } from "#tests/support/browser/attachment-drafts.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

const post = (page: Page, text: string) => page.getByRole("main").getByRole("listitem").filter({ hasText: text });
const button = ({ page }: TestClient, name: string) => page.getByRole("button", { name, exact: true });

/** Texts on the newest page of a person's feed, which also has statuses of other tests. */
const readFeed = async (site: Site, { token }: Person): Promise<string[]> => {
  const { posts, restricted = [] } = v.parse(PostPage, (await callSite(site, "GET", "/api/tala", { token })).body);
  return [...posts, ...restricted].map((row) => row[4]);
};

const expectPublicOnly = async (site: Site, reader: Person): Promise<void> => {
  const feed = await readFeed(site, reader);
  expect(feed).toContain("Pour tous");
  for (const text of ["Entre nous", "Note à moi"]) expect(feed).not.toContain(text);
};

test("a status for contacts shows to a contact and not to a stranger, until the contact is excepted", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 9_880, "Ana"),
    await makePerson(site, 9_881, "Ben"),
    await makePerson(site, 9_882, "Cléo"),
  ];
  await connectPeople(site, ben, ana);
  const [anas, bens] = [await TestClient.open(browser, server), await TestClient.open(browser, server, "en")];
  await anas.signIn(ana, "/app/tala");
  const { page, texts } = anas;
  const select = (phone = anas) => phone.page.getByRole("combobox", { name: phone.texts.tala.audience.label });
  const field = page.getByRole("textbox", { name: texts.tala.composer });
  const write = async (text: string) => {
    await button(anas, texts.tala.write).click();
    await field.fill(text);
  };
  const publish = async (text: string) => {
    await button(anas, texts.tala.publish).click();
    await expect(post(page, text).locator("time")).toBeVisible();
  };

  await test.step("the choice is shown, is kept with the draft over a reload, and is shown on the status", async () => {
    await write("Pour tous");
    await expect(select()).toHaveValue("everyone");
    await publish("Pour tous");
    await write("Entre nous");
    await select().selectOption({ label: texts.tala.audience.contacts });
    const picture = await makePicture(page, "fête.png", { width: 300, height: 200, type: "image/png" });
    const chooser = page.waitForEvent("filechooser");
    await button(anas, texts.tala.gallery).click();
    await (await chooser).setFiles(picture);
    await expect(page.getByRole("img", { name: texts.tala.preview })).toBeVisible();
    expect(await findAxeViolations(page)).toEqual([]);
    const saved = async () => (await readAttachmentDrafts(page)).map(({ audience, files }) => [audience, files.length]);
    await expect.poll(saved).toEqual([["contacts", 1]]);
    await page.reload();
    await expect(field).toHaveValue("Entre nous");
    await expect(select()).toHaveValue("contacts");
    await publish("Entre nous");
    await expect(post(page, "Entre nous")).toContainText(texts.tala.audience.noteContacts);
    await write("Note à moi");
    await expect(select()).toHaveValue("everyone"); // the choice was for one status
    await select().selectOption("nobody");
    await publish("Note à moi");
    await expect(post(page, "Note à moi")).toContainText(texts.tala.audience.noteNobody);
  });

  await test.step("a contact sees it with its picture, a stranger only the public one", async () => {
    await bens.signIn(ben, "/app/tala");
    await expect(post(bens.page, "Pour tous")).toBeVisible();
    await expect(post(bens.page, "Note à moi")).toHaveCount(0);
    expect(await readFeed(site, ben)).toContain("Entre nous");
    const seen = post(bens.page, "Entre nous");
    await expect(seen).toContainText(bens.texts.tala.audience.noteContacts);
    await expect
      .poll(() => seen.locator("button img").evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
    await expectPublicOnly(site, cleo);
  });

  await test.step("the contact is excepted: it disappears there, also after a reload, and the server no longer sends it", async () => {
    await anas.openRoute("/app/privacy");
    const { statuses, except } = texts.settings.privacy;
    const group = page.getByRole("group", { name: statuses.title });
    await group.getByRole("radio", { name: statuses.contacts, exact: true }).press("Space");
    await button(anas, `${statuses.title} ${except.none}`).click();
    await page.getByRole("checkbox", { name: /^Ben/ }).press("Space");
    await button(anas, except.save).click();
    const row = button(anas, `${statuses.title} ${fill(except.some_one, { count: 1 })}`);
    await expect(row).toBeFocused();
    await expect(post(bens.page, "Entre nous")).toHaveCount(0, { timeout: 60_000 }); // polled every 20 s
    await expect(post(bens.page, "Pour tous")).toBeVisible();
    await expectPublicOnly(site, ben);
    await bens.page.reload();
    await expect(post(bens.page, "Pour tous")).toBeVisible();
    await expect(post(bens.page, "Entre nous")).toHaveCount(0);
  });

  await test.step("the form begins with the setting of its author", async () => {
    await anas.openRoute("/app/tala");
    await button(anas, texts.tala.write).click();
    await expect(select()).toHaveValue("contacts_except");
    await expect(select()).toContainText(fill(texts.tala.audience.except, { people: 1 }));
    await button(bens, bens.texts.tala.write).click();
    await expect(select(bens)).toHaveValue("everyone");
  });

  await test.step("a change of the setting elsewhere does not change the audience of a status that is begun", async () => {
    await field.fill("Commencé");
    const body = { statusesTo: "nobody" };
    expect((await callSite(site, "PATCH", "/api/settings", { token: ana.token, body })).status).toBe(200);
    const cached = () =>
      page.evaluate(() => Object.entries(localStorage).find(([key]) => key.endsWith("-settings"))?.[1] as string);
    await expect.poll(cached).toContain('"statusesTo":"nobody"');
    await expect(select()).toHaveValue("contacts_except");
    await publish("Commencé");
    await button(anas, texts.tala.write).click();
    await expect(select()).toHaveValue("nobody");
  });
  for (const one of [anas, bens]) await one.close();
});
