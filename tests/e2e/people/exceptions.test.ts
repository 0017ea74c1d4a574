import * as v from "valibot";
import { VersionedSettings } from "#contract/settings/settings.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { callScreen, openCallClient, placeCall } from "#tests/support/browser/call-client.ts";
import { fill, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

test("a contact who is excepted sees no presence and no picture, and is told that the line is busy", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 9_850, "Ana"),
    await makePerson(site, 9_851, "Ben"),
    await makePerson(site, 9_852, "Cléo"),
  ];
  for (const other of [ben, cleo]) await connectPeople(site, other, ana);
  const headers = { authorization: `Bearer ${ana.token}`, "content-type": "image/png" };
  const picture = await fetch(`${site.origin}/api/profile/avatar`, { method: "PUT", headers, body: onePixelPng });
  expect(picture.status).toBe(200);
  const readSettings = async () =>
    v.parse(VersionedSettings, (await callSite(site, "GET", "/api/settings", { token: ana.token })).body).settings;

  const [anas, bens] = [await TestClient.open(browser, server), await openCallClient(browser, server)];
  await anas.signIn(ana, "/app/privacy");
  await bens.signInToChat(ben, ana.id);
  const { page } = anas;
  const { privacy } = anas.texts.settings;
  const except = (people: number, texts = anas.texts) =>
    people === 0
      ? texts.settings.privacy.except.none
      : fill(texts.settings.privacy.except[people === 1 ? "some_one" : "some_other"], { count: people });
  const rowOf = (label: string, people: number) =>
    page.getByRole("button", { name: `${label} ${except(people)}`, exact: true });
  const pictureChoice = (name: string) =>
    page.getByRole("group", { name: privacy.picture.title }).getByRole("radio", { name, exact: true });
  const contact = (name: string) => page.getByRole("checkbox", { name: new RegExp(`^${name}`) });
  const save = page.getByRole("button", { name: privacy.except.save, exact: true });
  const header = bens.page.getByRole("link", { name: "Ana" });
  const { presence } = bens.texts.chat;

  await test.step("presence, chosen by keyboard in the searched list", async () => {
    await expect(header).toContainText(presence.here);
    await expect(header.locator("img")).toBeVisible();
    await rowOf(privacy.presence, 0).press("Enter");
    await expect(page.getByRole("dialog", { name: privacy.except.none })).toBeVisible();
    await page.getByRole("searchbox").fill("ben");
    await expect(contact("Cléo")).toHaveCount(0);
    await contact("Ben").press("Space");
    await page.getByRole("searchbox").fill("");
    await expect(contact("Cléo")).not.toBeChecked();
    await expect(contact("Ben")).toBeChecked();
    expect(await findAxeViolations(page)).toEqual([]);
    await save.press("Enter");
    await expect(rowOf(privacy.presence, 1)).toBeFocused();
    await expect(header).not.toContainText(presence.here);
  });

  await test.step("the picture, for two people, and then for one of them again", async () => {
    await expect(rowOf(privacy.picture.title, 0)).toHaveCount(0); // it is for everyone
    await pictureChoice(privacy.picture.contacts).press("Space");
    await rowOf(privacy.picture.title, 0).click();
    for (const name of ["Ben", "Cléo"]) await contact(name).press("Space");
    await save.click();
    await rowOf(privacy.picture.title, 2).click();
    await contact("Cléo").press("Space");
    await save.click();
    await expect(rowOf(privacy.picture.title, 1)).toBeVisible();
    await expect(header.locator("img")).toHaveCount(0);
    // Nothing is chosen by closing the sheet.
    await rowOf(privacy.picture.title, 1).click();
    await contact("Cléo").press("Space");
    await page.keyboard.press("Escape");
    await expect(rowOf(privacy.picture.title, 1)).toBeVisible();
  });

  await test.step("calls: nothing rings, and the caller is told busy", async () => {
    await rowOf(privacy.callsFrom, 0).click();
    await contact("Ben").press("Space");
    await save.click();
    await expect.poll(async () => (await readSettings()).callsFrom).toBe("contacts_except");
    await placeCall(bens, ana);
    await expect(bens.page.getByText(bens.texts.calls.say.busy, { exact: true })).toBeVisible();
    await expect(callScreen(bens, ana)).toHaveCount(0);
    await expect(page.getByRole("alertdialog")).toHaveCount(0);
  });

  await test.step("a choice made offline is kept over a reload, and reaches the server", async () => {
    await anas.context.setOffline(true);
    await rowOf(privacy.groupAdds, 0).click();
    for (const name of ["Ben", "Cléo"]) await contact(name).press("Space");
    await save.click();
    await expect(rowOf(privacy.groupAdds, 2)).toBeVisible();
    expect((await readSettings()).groupAdds).toBe("contacts");
    await anas.context.setOffline(false);
    await page.reload();
    await expect(rowOf(privacy.groupAdds, 2)).toBeVisible();
    await expect.poll(readSettings).toMatchObject({
      groupAdds: "contacts_except",
      exceptions: { presence: [ben.id], pictureTo: [ben.id], callsFrom: [ben.id], groupAdds: [ben.id, cleo.id] },
    });
    // Turned off and on again, the list applies again.
    const groups = page.getByRole("switch", { name: privacy.groupAdds, exact: true });
    await groups.press("Space");
    await expect(rowOf(privacy.groupAdds, 2)).toHaveCount(0);
    await groups.press("Space");
    await expect(rowOf(privacy.groupAdds, 2)).toBeVisible();
    // Former contacts do not count, and are not offered.
    await callSite(site, "DELETE", `/api/contacts/${cleo.id}`, { token: ana.token });
    await rowOf(privacy.groupAdds, 1).click();
    await expect(contact("Ben")).toBeChecked();
    await expect(contact("Cléo")).toHaveCount(0);
    await save.click();
    await expect(rowOf(privacy.groupAdds, 1)).toBeVisible();
    await expect.poll(async () => (await readSettings()).exceptions.groupAdds).toEqual([ben.id, cleo.id]);
  });

  await test.step("the next statuses", async () => {
    const statuses = page.getByRole("group", { name: privacy.statuses.title });
    await expect(statuses.getByRole("radio", { name: privacy.statuses.everyone, exact: true })).toBeChecked();
    await expect(page.getByText(anas.texts.settings.privacy.seen.posts)).toBeVisible();
    await statuses.getByRole("radio", { name: privacy.statuses.contacts, exact: true }).press("Space");
    await expect(page.getByText(anas.texts.settings.privacy.seen.postsRestricted)).toBeVisible();
    await rowOf(privacy.statuses.title, 0).click();
    await contact("Ben").press("Space");
    await save.click();
    await expect(rowOf(privacy.statuses.title, 1)).toBeVisible();
    await expect.poll(async () => (await readSettings()).statusesTo).toBe("contacts_except");
  });

  await test.step("it looks as the other settings, in another language too", async () => {
    expect(await findAxeViolations(page)).toEqual([]);
    await anas.switchLanguage("pt");
    await page.reload();
    await page.setViewportSize({ width: 1_280, height: 800 });
    const { texts } = anas;
    const row = page.getByRole("button", {
      name: `${texts.settings.privacy.callsFrom} ${except(1, texts)}`,
      exact: true,
    });
    await row.click();
    await expect(contact("Ben")).toBeChecked();
  });
  for (const one of [anas, bens]) await one.close();
});
