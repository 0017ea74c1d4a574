import type { Page } from "@playwright/test";
import { groupNameMaxLength } from "#contract/limits/groups.ts";
import { readAttachmentDrafts } from "#tests/support/browser/attachment-drafts.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const onePicture = { name: "famille.png", mimeType: "image/png", buffer: onePixelPng };
const expectNoFaults = async (page: Page) => expect(await findAxeViolations(page)).toEqual([]);
const plain = (text: string): string => text.replaceAll("\u00a0", " "); // normalised as names are compared

test("a group needs a name and a member; its draft survives its page, and repeated attempts create one group", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9100);
  const [ben, cleo] = [await makePerson(site, 9101, "Ben Élodie"), await makePerson(site, 9102)];
  const phone = await TestClient.open(browser, server);
  const { page, context, texts } = phone;
  await phone.signIn(ana);

  // Without contacts for a group: a link to Senga.
  await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.masolo.newGroup }).click();
  await expect(page.getByText(texts.contacts.none.title)).toBeVisible();
  await expectNoFaults(page);
  await page.getByRole("link", { name: texts.contacts.none.action }).click();
  await expect(page).toHaveURL("/app/senga");
  await connectPeople(site, ana, ben);
  await connectPeople(site, ana, cleo);
  await phone.goToTab("masolo");
  const begin = async () => {
    await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
    await page.getByRole("menuitem", { name: texts.masolo.newGroup }).click();
    await expect(page).toHaveURL("/app/create-group");
  };

  // A user who leaves before the storage code is loaded, and returns, finds the draft.
  const name = page.getByLabel(texts.groups.create.name);
  let letCome = () => {};
  const keeper = new Promise<void>((resolve) => {
    letCome = resolve;
  });
  await page.route("**/assets/sending-*", (route) => keeper.then(() => route.continue()));
  await begin();
  await name.fill("Famille");
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(name).toHaveCount(0);
  await begin();
  await expect(name).toHaveValue("");
  letCome();
  await expect(name).toHaveValue("Famille");

  // Missing fields are reported, by Enter too; the button needs both.
  const create = page.getByRole("button", { name: texts.groups.create.submit });
  const box = (username: string) => page.getByRole("checkbox", { name: username });
  await expect(box(ben.username)).toBeAttached();
  await expect(create).toBeDisabled();
  await name.fill("   ");
  await name.press("Enter");
  await expect(page.getByRole("alert")).toContainText("Veuillez donner un nom au groupe.");
  await expect(name).toHaveAttribute("aria-invalid", "true");
  expect(await name.getAttribute("maxlength")).toBe(String(groupNameMaxLength));
  await name.fill("Famille");
  await expect(create).toBeDisabled();
  await name.press("Enter");
  await expect(page.getByRole("alert")).toContainText("Veuillez sélectionner au moins un membre.");
  await page.getByRole("searchbox").fill("elodie");
  await expect(page.getByRole("checkbox")).toHaveCount(1);
  await box(ben.username).focus();
  await page.keyboard.press("Space");
  await expect(page.getByText(fill(texts.groups.create.selected_one, { count: 1 }))).toBeVisible();
  await page.getByRole("searchbox").fill("");
  await box(cleo.username).check({ force: true });
  await expect(page.getByText("2 membres sélectionnés")).toBeVisible();
  await page.getByLabel(texts.groups.create.addPicture).setInputFiles(onePicture);
  await expect(page.getByRole("button", { name: texts.groups.picture.remove })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expectNoFaults(page);

  // A crash of the page, a server error and a missing network lose nothing.
  await expect
    .poll(async () => (await readAttachmentDrafts(page)).map(({ text, files, to }) => [text, files.length, to.length]))
    .toEqual([["Famille", 1, 2]]);
  await page.reload();
  const expectAllThere = async () => {
    await expect(name).toHaveValue("Famille");
    for (const { username } of [ben, cleo]) await expect(box(username)).toBeChecked();
    await expect(page.getByRole("button", { name: texts.groups.picture.remove })).toBeVisible();
    await expect(create).toBeEnabled();
  };
  await expectAllThere();
  const failed = page.getByRole("alert").getByText("Erreur lors de la création du groupe.");
  await context.route("**/api/groups", (route) => route.fulfill({ status: 503, body: "" }));
  await create.click();
  await expect(failed).toContainText(texts.errors.unavailable);
  await expectAllThere();
  await context.unroute("**/api/groups");
  await context.setOffline(true);
  await expect(page.getByText(plain(texts.groups.create.offline))).toBeVisible();
  await create.click();
  await expect(failed).toContainText(texts.errors.offline);
  await expectAllThere();
  await context.setOffline(false);

  // The group is created and the answer lost: the group opens as soon as its notice arrives, and the form is cleared.
  const asked: unknown[] = [];
  await context.route("**/api/groups", async (route) => {
    const body: unknown = route.request().postDataJSON();
    asked.push(body);
    await callSite(site, "POST", "/api/groups", { token: ana.token, body });
    await route.abort();
  });
  // The toast is shown for a moment, before the group's picture is uploaded.
  const created = plain(fill(texts.groups.create.created, { name: "Famille" }));
  const createdToast = expect(page.getByRole("status").getByText(created)).toBeVisible();
  await Promise.all([createdToast, create.click()]);
  await page.waitForURL(/\/app\/group\/[\da-f-]{36}$/);
  expect(asked).toMatchObject([{ name: "Famille", members: [ben.id, cleo.id] }]);
  expect(page.url()).toContain((asked[0] as { id: string }).id);
  await expect(phone.composer()).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL("/app");
  await expect(phone.conversation("Famille")).toHaveCount(1);
  await context.unrouteAll({ behavior: "wait" }); // the group's notice may arrive before its answer is lost

  // A new form is empty, and a double tap creates one group.
  asked.length = 0;
  context.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/api/groups")) asked.push(request.postDataJSON());
  });
  await phone.openRoute("/app/create-group");
  await expect(box(ben.username)).toBeAttached();
  await expect(name).toHaveValue("");
  await box(ben.username).check({ force: true });
  await name.fill("Voisins");
  await create.dblclick();
  await page.waitForURL("**/app/group/*");
  expect(asked).toHaveLength(1);

  // A user who navigated elsewhere before it was created is told there, and finds no draft of it.
  await phone.openRoute("/app/create-group");
  await box(ben.username).check({ force: true });
  await name.fill("Marché");
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await context.route("**/api/groups", (route) => held.then(() => route.continue()));
  await create.click();
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(page).toHaveURL("/app");
  release();
  await expect(page.getByRole("status").getByText("Marché", { exact: false }).first()).toBeVisible();
  await expect(phone.conversation("Marché")).toBeVisible();
  await expect.poll(() => readAttachmentDrafts(page)).toEqual([]);
  await expect(page).toHaveURL("/app");
  await phone.close();
});
