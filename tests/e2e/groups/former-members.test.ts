import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { eventually } from "#tests/support/eventually.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person } from "#tests/support/people/people.ts";
import { readLocalLog } from "#tests/support/server/logs.ts";

test("who leaves a group or is removed reads what they had, on a new device too, until they delete it, and a return brings later edits and reactions", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 7160, "Ana Mbuyi");
  const [ben, cleo] = [await makePerson(site, 7161, "Ben"), await makePerson(site, 7162, "Cleo Diallo")];
  for (const other of [ben, cleo]) await connectPeople(site, ana, other);
  const id = await makeGroup(site, ana, "Chorale", [ben, cleo]);
  await sendTexts(site, ana, id, ["à retirer", "répétition jeudi", "prix 100"]);
  const run = async (by: Person, method: "PATCH" | "PUT" | "DELETE" | "POST", path: string, body?: object) => {
    const { status } = await callSite(site, method, path, { token: by.token, ...(body && { body }) });
    expect(status).toBeLessThan(300);
  };
  const messages = `/api/conversations/${id}/messages`;
  await run(cleo, "PUT", `${messages}/3/reaction`, { emoji: "👍" });
  const bens = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const cleos = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  const chat = `/app/group/${id}`;
  await Promise.all([bens.signIn(ben, chat), cleos.signIn(cleo, `${chat}/members`)]);
  await expect(bens.composer()).toBeVisible();

  // Cleo leaves; the group stays in her list, and opens without a composer.
  const { page, texts } = cleos;
  await page.getByRole("button", { name: texts.groups.leave.short, exact: true }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText(texts.groups.leave.body);
  await question.getByRole("button", { name: texts.groups.leave.short }).click();
  await expect(page).toHaveURL("/app");
  await expect(cleos.conversation("Chorale")).toContainText(texts.groups.events.leftByMe);
  await cleos.conversation("Chorale").click();
  await expect(page.getByText(texts.groups.chat.youLeft)).toBeVisible();
  await expect(cleos.message("répétition jeudi")).toBeVisible();
  await expect(cleos.composer()).toHaveCount(0);
  await cleos.message("répétition jeudi").locator("bdi").last().click({ button: "right" });
  await expect(page.getByRole("menuitem", { name: texts.messages.copy })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: texts.messages.reply })).toHaveCount(0);
  await expect(page.getByRole("menuitemcheckbox")).toHaveCount(0);
  await page.keyboard.press("Escape");
  expect(await findAxeViolations(page)).toEqual([]);

  // Ben is removed while he has the chat open.
  await run(ana, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  await expect(bens.page.getByText(bens.texts.groups.chat.notMember)).toBeVisible();
  await expect(bens.composer()).toHaveCount(0);

  // What follows reaches neither; a deletion does.
  await sendTexts(site, ana, id, ["entre nous"]);
  await run(ana, "PATCH", `${messages}/4`, { edit: 0, text: "prix 900" });
  await run(ana, "PUT", `${messages}/4/reaction`, { emoji: "🔥" });
  await run(ana, "DELETE", `${messages}/2`);
  for (const phone of [bens, cleos]) {
    await expect(phone.message("à retirer")).toHaveCount(0);
    await expect(phone.message("répétition jeudi")).toBeVisible();
    await expect(phone.message("prix 100")).toBeVisible();
    expect(JSON.stringify(await readLocalLog(phone.page, id))).not.toContain("entre nous");
  }

  // A new device has the same history, and never another word in place of a name.
  const tablet = await TestClient.open(browser, server, "en");
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await tablet.signIn(ben);
  await expect(tablet.conversation("Chorale")).toContainText(
    fill(tablet.texts.groups.events.removedMe, { name: "Ana Mbuyi" }),
  );
  await tablet.conversation("Chorale").click();
  for (const text of ["répétition jeudi", "prix 100"]) await expect(tablet.message(text)).toBeVisible();
  await expect(tablet.page.getByRole("main").getByText("Ana Mbuyi").first()).toBeVisible();
  await tablet.context.route(`**/api/groups/${id}/members?numbers=*`, (route) => held.then(() => route.continue()));
  await tablet.message("répétition jeudi").locator("bdi").last().click({ button: "right" });
  await tablet.page.getByRole("menuitem", { name: tablet.texts.reactions.show }).click();
  const reactor = tablet.page
    .getByRole("dialog")
    .getByRole("list", { name: tablet.texts.reactions.title })
    .getByRole("listitem");
  await expect(reactor).toContainText("👍");
  await expect(reactor).not.toContainText(tablet.texts.groups.chat.someone);
  const readHeight = async () => Math.round((await reactor.boundingBox())?.height ?? 0); // the sheet may still be moving
  const height = await readHeight();
  release();
  await expect(reactor).toContainText("Cleo Diallo");
  expect(await readHeight()).toBe(height);
  await tablet.page.keyboard.press("Escape");

  // A member again for a while, Ben sees the edit and the reaction of the time between on both devices.
  await run(ana, "POST", `/api/groups/${id}/members`, { members: [ben.id] });
  for (const device of [bens, tablet]) {
    await expect(device.composer()).toBeVisible();
    await expect(device.message("prix 900")).toBeVisible();
    await expect(device.page.getByRole("main").getByText("🔥")).toBeVisible();
  }
  await run(ana, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  for (const { page, texts } of [bens, tablet]) await expect(page.getByText(texts.groups.chat.notMember)).toBeVisible();

  // Deleted on one device, it is gone on both, and the server refuses it.
  await tablet.page.getByRole("button", { name: tablet.texts.common.more, exact: true }).click();
  await expect(tablet.page.getByRole("menuitem", { name: tablet.texts.mute.on })).toHaveCount(0);
  await tablet.page.getByRole("menuitem", { name: tablet.texts.masolo.delete }).click();
  const deletion = tablet.page.getByRole("alertdialog");
  await expect(deletion).toContainText(fill(tablet.texts.groups.chat.deleteLeftBody, { name: "Chorale" }));
  await deletion.getByRole("button", { name: tablet.texts.common.delete }).click();
  await expect(tablet.page).toHaveURL("/app");
  await expect(tablet.conversation("Chorale")).toHaveCount(0);
  await expect(bens.page).toHaveURL("/app");
  await expect(bens.conversation("Chorale")).toHaveCount(0);
  await eventually(async () => expect(await readLocalLog(bens.page, id)).toEqual([]), 5_000);
  const { status } = await callSite(site, "GET", `/api/conversations/${id}/messages`, { token: ben.token });
  expect(status).toBe(404);
  // The menu of the list's row has the same entry.
  await page.getByRole("link", { name: "Chorale" }).first().click({ button: "right" });
  await expect(page.getByRole("menuitem", { name: texts.mute.on })).toHaveCount(0);
  await page.getByRole("menuitem", { name: texts.masolo.delete }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.common.delete }).click();
  await expect(cleos.conversation("Chorale")).toHaveCount(0);
  await expect(page).toHaveURL("/app");
  for (const phone of [bens, cleos, tablet]) await phone.close();
});
