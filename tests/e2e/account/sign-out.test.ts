import { privateConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, signInAgain } from "#tests/support/people/people.ts";

test("signing out shows a message and removes all local data; a failure keeps the user signed in", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 710);
  const otherDevice = await signInAgain(site, ana);
  const isOtherSignedIn = async () =>
    (await callSite(site, "GET", "/api/auth/user", { token: otherDevice.token })).status === 200;
  const phone = await TestClient.open(browser, server);
  const { page, texts, context } = phone;
  await phone.signIn(ana, "/app/profile");
  const signOut = page.getByRole("button", { name: texts.profile.signOut, exact: true });
  const everywhere = page.getByRole("button", { name: texts.profile.signOutAll, exact: true });
  // The screen says before any action that the other devices stay signed in.
  await expect(signOut).toHaveAccessibleDescription(texts.profile.signOutHere);
  await context.route("**/api/auth/logout*", (route) =>
    route.fulfill({ status: 500, json: { code: 500, error_code: "internal", msg: "" } }),
  );
  await signOut.click();
  const refused = page.getByRole("alert").filter({ hasText: texts.auth.signOutFailed });
  await expect(refused).toContainText("Une erreur s'est produite");
  await expect(page).toHaveURL("/app/profile");
  await context.unroute("**/api/auth/logout*");
  // React hydrates the prerendered welcome page; only then a toast appears on it.
  const problems: string[] = [];
  page.on("console", (line) => line.type() === "error" && problems.push(line.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await signOut.click();
  await expect(page).toHaveURL("/");
  await expect(page.getByText("Déconnexion réussie")).toBeVisible();
  expect(problems).toEqual([]);
  const databases = () => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  await expect.poll(databases).toEqual([]);
  await page.goto("/app");
  await expect(page).toHaveURL(/\/login$/);
  // The other device stays signed in until its user ends all sessions.
  expect(await isOtherSignedIn()).toBe(true);
  await phone.signIn(await signInAgain(site, ana), "/app/profile");
  // One touch ends no session of another device.
  const question = page.getByRole("alertdialog", { name: texts.profile.signOutAllTitle });
  await everywhere.click();
  await question.getByRole("button", { name: texts.profile.stay }).click();
  await expect(everywhere).toBeFocused();
  expect(await isOtherSignedIn()).toBe(true);
  await everywhere.click();
  await question.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await expect(page).toHaveURL("/");
  expect(await isOtherSignedIn()).toBe(false);
  await phone.close();
});

test("signing out offline removes all local data at once, and ends the session once there is a network", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 717), await makePerson(site, 718)];
  const phone = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts, context } = phone;
  await phone.signIn(await signInAgain(site, ana), "/app/profile");
  await waitForOfflineReady(page);
  const databases = () => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  const devices = async () => {
    const { body } = await callSite(site, "GET", "/api/auth/sessions", { token: ana.token });
    return (body as { devices: unknown[] }).devices.length;
  };
  expect(await devices()).toBe(2);
  await context.setOffline(true);
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await expect(page).toHaveURL("/");
  await expect(page.getByText(texts.auth.signedOutOffline)).toBeVisible();
  await expect.poll(databases).toEqual([]);
  // It does not open again, although its cookies are still there.
  await page.goto("/app");
  await expect(page).toHaveURL(/\/login$/);
  await page.reload();
  await expect(page).toHaveURL(/\/login$/);
  expect(await devices()).toBe(2);
  await context.setOffline(false);
  await expect.poll(devices).toBe(1);
  await expect.poll(() => page.evaluate(() => Object.keys(localStorage))).not.toContain("pending-sign-out");
  // The next person signs in and stays signed in.
  await phone.logIn(ben.phone);
  await page.reload();
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible();
  await phone.close();
});

test("signing out first lists unsent content, in whichever tab it was written, and updates the list while it changes", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 711), await makePerson(site, 712)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["Mbote"]);
  const phone = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts, context } = phone;
  await phone.signIn(ana);
  await waitForOfflineReady(page);
  const other = await context.newPage();
  await phone.openChat(ben.id, other);
  await context.setOffline(true); // with a network the other devices would have the draft
  await phone.composer(other).fill("pas fini");
  await expect(phone.conversation(ben.username)).toContainText("pas fini");
  await page.getByRole("link", { name: texts.shell.myProfile }).click();
  const signOut = page.getByRole("button", { name: texts.profile.signOut, exact: true });
  const dialog = page.getByRole("alertdialog", { name: texts.profile.unsentTitle });
  const says = (what: string) => expect(dialog.getByText(fill(texts.profile.unsentBody, { what }))).toBeVisible();
  await signOut.click();
  await says("1 brouillon");
  await expect(dialog.getByText(texts.profile.signOutEverywhere)).toBeHidden();
  await expect(dialog.getByRole("button", { name: texts.profile.stay })).toBeFocused();

  await phone.write("pas encore parti", other);
  await expect(phone.ticks("pas encore parti", "sending", other)).toBeVisible();
  await says("1 message non envoyé");
  await phone.composer(other).fill("a".repeat(messageTextMaxLength + 1)); // stays on this device
  await says("1 message non envoyé et 1 brouillon");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(signOut).toBeFocused();
  await signOut.click();
  await context.setOffline(false);
  await expect(phone.ticks("pas encore parti", "sent", other)).toBeVisible();
  await says("1 brouillon");
  // The other tab shows for a moment what happened, and it is true that nothing was kept.
  await Promise.all([
    expect(other.getByText(texts.auth.signedOutElsewhere)).toBeVisible(),
    dialog.getByRole("button", { name: texts.profile.signOutAnyway }).click(),
  ]);
  await expect(page).toHaveURL("/");
  await expect(other).toHaveURL(/\/login$/);
  await expect(other.getByText(texts.auth.sessionEnded)).toBeHidden();
  await expect
    .poll(() => other.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name)))
    .toEqual([]);
  // The call data price stored on the device belongs to no account.
  await expect.poll(() => other.evaluate(() => Object.keys(localStorage).sort())).toEqual(["call-price", "signed-out"]);
  await phone.close();
});
