import type { Page } from "@playwright/test";
import { groupNameMaxLength } from "#contract/limits.ts";
import { faultsIn } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { keptChoices } from "#tests/support/browser/kept-choices.ts";
import { fill, onePixelPng, Phone } from "#tests/support/browser/phone.ts";
import { siteOf } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const onePicture = { name: "famille.png", mimeType: "image/png", buffer: onePixelPng };
const expectNoFaults = async (page: Page) => expect(await faultsIn(page)).toEqual([]);
const plain = (text: string): string => text.replaceAll("\u00a0", " "); // as a name is compared

test("a group takes a name and somebody in it; what was begun outlives its page, and however often it is tried one comes of it", async ({
  browser,
  server,
}) => {
  const site = siteOf(server);
  const ana = await makePerson(site, 9100);
  const [ben, cleo] = [await makePerson(site, 9101, "Ben Élodie"), await makePerson(site, 9102)];
  const phone = await Phone.open(browser, server);
  const { page, context, texts } = phone;
  await phone.signIn(ana);

  // Nobody to make a group with: the way to Senga.
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

  // Whoever goes back before what keeps it has come, and comes again, finds what they began.
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

  // What is missing is said, by Enter too; the button waits for both.
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

  // A page that dies, a server that fails, a network that is away: nothing of it is lost.
  await expect
    .poll(async () => (await keptChoices(page)).map(({ text, files, to }) => [text, files.length, to.length]))
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

  // Made, though its answer is lost: the group opens as soon as it is heard of, and the form is no more.
  const asked: unknown[] = [];
  await context.route("**/api/groups", async (route) => {
    const body: unknown = route.request().postDataJSON();
    asked.push(body);
    await callSite(site, "POST", "/api/groups", { token: ana.token, body });
    await route.abort();
  });
  // It is told for a moment, before its picture has gone where the group is.
  const created = plain(fill(texts.groups.create.created, { name: "Famille" }));
  const isTold = expect(page.getByRole("status").getByText(created)).toBeVisible();
  await Promise.all([isTold, create.click()]);
  await page.waitForURL(/\/app\/group\/[\da-f-]{36}$/);
  expect(asked).toMatchObject([{ name: "Famille", members: [ben.id, cleo.id] }]);
  expect(page.url()).toContain((asked[0] as { id: string }).id);
  await expect(phone.composer()).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL("/app");
  await expect(phone.conversation("Famille")).toHaveCount(1);
  await context.unrouteAll({ behavior: "wait" }); // the group may be heard of before its answer is lost

  // Begun anew it is empty, and a hasty thumb makes one.
  asked.length = 0;
  context.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/api/groups")) asked.push(request.postDataJSON());
  });
  await phone.goTo("/app/create-group");
  await expect(box(ben.username)).toBeAttached();
  await expect(name).toHaveValue("");
  await box(ben.username).check({ force: true });
  await name.fill("Voisins");
  await create.dblclick();
  await page.waitForURL("**/app/group/*");
  expect(asked).toHaveLength(1);

  // Whoever goes on before it is made is told so where they are, and finds nothing of it begun.
  await phone.goTo("/app/create-group");
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
  await expect.poll(() => keptChoices(page)).toEqual([]);
  await expect(page).toHaveURL("/app");
  await phone.close();
});
