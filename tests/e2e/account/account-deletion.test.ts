import { createUuid, privateConversationId } from "#contract/ids.ts";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient, waitForWelcome } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, signInAgain, testPassword } from "#tests/support/people/people.ts";

test("a deleted account is signed out everywhere for good and anonymous to the others, who keep the messages", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_450, "Ana Mbuyi"), await makePerson(site, 9_451, "Ben Ilunga")];
  await connectPeople(site, ana, ben);
  const pair = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ana, pair, ["Mbote Ben"]);
  await sendTexts(site, ben, pair, ["Mbote Ana"]);
  const group = await makeGroup(site, ben, "Famille", [ana]);
  await sendTexts(site, ana, group, ["Bonsoir la famille"]);
  // Cleo has no relation to Ana and saw her name with a forwarded message.
  const cleo = await makePerson(site, 9_452, "Cleo Nsimba");
  await connectPeople(site, ben, cleo);
  const forwarded = { by: ana.id, name: ana.username };
  const body = { type: "text", text: "Mbote Ben", forwarded } as const;
  const passedOn = { cid: createUuid(), body, source: { conversation: pair, seq: 1 } };
  const path = `/api/conversations/${privateConversationId(ben.id, cleo.id)}/messages`;
  const response = await callSite(site, "POST", path, { token: ben.token, body: { messages: [passedOn] } });
  expect(response.status).toBe(200);

  const [anas, bens, cleos] = [
    await TestClient.open(browser, server),
    await TestClient.open(browser, server),
    await TestClient.open(browser, server),
  ];
  await cleos.signInToChat(cleo, ben.id);
  const saysFrom = (name: string) => cleos.page.getByText(fill(cleos.texts.messages.forwardedFrom, { name }));
  await expect(saysFrom("Ana Mbuyi")).toBeVisible();
  const { page, texts, context } = anas;
  await anas.signIn(ana);
  await expect(anas.conversation("Ben Ilunga")).toBeVisible();
  const otherTab = await context.newPage();
  await anas.openChat(ben.id, otherTab);
  await anas.composer(otherTab).fill("pas fini");
  // On another device she is signed in with a separate session.
  const tablet = await TestClient.open(browser, server, "pt");
  await tablet.signIn(await signInAgain(site, ana));
  await expect(tablet.conversation("Ben Ilunga")).toBeVisible();
  await bens.signInToChat(ben, ana.id);
  await expect(bens.message("Mbote Ben")).toBeVisible();
  // He keeps writing offline.
  await bens.context.setOffline(true);
  await bens.write("jamais partie");
  await bens.composer().fill("tu viens ?");

  // A missing network and a missing server lose nothing, and each is reported.
  await anas.openRoute("/app/profile");
  const button = page.getByRole("button", { name: texts.profile.deleteAccount, exact: true });
  const dialog = page.getByRole("alertdialog", { name: texts.profile.deleteTitle });
  const yes = dialog.getByRole("button", { name: texts.profile.deleteConfirm });
  await button.click();
  await expect(dialog.getByText(texts.profile.deleteBody)).toBeVisible();
  await expect(dialog).toContainText(texts.profile.deleteKept);
  await expect(dialog.getByText("Vous perdrez aussi 1 brouillon.")).toBeVisible();
  await expect(dialog.getByRole("button", { name: texts.common.cancel })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(button).toBeFocused();
  const refuse = (title: string, message: string) => {
    const toast = page.getByRole("alert").filter({ hasText: message });
    return expect(toast.getByText(title)).toBeVisible();
  };
  await context.setOffline(true);
  await button.click();
  await yes.click();
  await refuse(texts.profile.deleteFailedTitle, texts.profile.deleteOffline);
  await context.setOffline(false);
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await context.route("**/api/account", async (route) => {
    await held;
    await route.fulfill({ status: 503, json: { code: 503, error_code: "unavailable", msg: "" } });
  });
  await button.click();
  await yes.click();
  await expect(dialog.getByRole("button", { name: texts.profile.deleting })).toHaveAttribute("aria-busy", "true");
  answer();
  await refuse(texts.profile.deleteFailedTitle, texts.profile.deleteFailed);
  await context.unroute("**/api/account");
  await context.route("**/api/account", (route) =>
    route.fulfill({ status: 404, json: { code: 404, error_code: "user_not_found", msg: "" } }),
  );
  await button.click();
  await yes.click();
  await refuse(texts.profile.deleteFailedTitle, texts.errors.user_not_found);
  await context.unroute("**/api/account");
  await expect(anas.composer(otherTab)).toHaveValue("pas fini");
  await expect(anas.message("Mbote Ana", otherTab)).toBeVisible();

  await button.click();
  // Each toast is shown for a moment.
  await Promise.all([
    ...[page, otherTab].map((one) => expect(one.getByText(texts.profile.deleted)).toBeVisible()),
    expect(page.getByText(texts.profile.deletedTitle, { exact: true })).toBeVisible(),
    expect(tablet.page.getByText(tablet.texts.profile.deleted)).toBeVisible(),
    yes.click(),
  ]);
  await expect(page).toHaveURL(/\/login$/);
  for (const other of [otherTab, tablet.page]) {
    await expect(other).toHaveURL(/\/login$/);
    await expect
      .poll(() => other.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name)))
      .toEqual([]);
  }
  await page.getByLabel(texts.auth.phoneNumber).fill(ana.phone);
  await page.getByLabel(texts.auth.password, { exact: true }).fill(testPassword);
  await page.getByRole("button", { name: texts.auth.logIn, exact: true }).click();
  await expect(page.getByText(texts.errors.invalid_credentials, { exact: true })).toBeVisible();

  // For Ben, who is online again, she is a deleted account: in the open chat, in the list, in the group and in her
  // profile.
  await bens.context.setOffline(false);
  const gone = texts.common.deletedAccount;
  const bensPage = bens.page;
  await expect(bensPage.getByText(texts.chat.accountDeleted)).toBeVisible({ timeout: 30_000 });
  await expect(bens.composer()).toHaveCount(0);
  await expect(bens.message("Mbote Ben")).toBeVisible();
  await expect(bens.message("Mbote Ana")).toBeVisible();
  await expect(bensPage.getByRole("button", { name: /Appel/ })).toHaveCount(0);
  // His unsent messages and his draft can still be copied, and can never be sent.
  await expect(bensPage.getByText("tu viens ?")).toBeVisible();
  await expect(bens.message("jamais partie")).toContainText("Non envoyé. Ce compte a été supprimé.");
  await expect(bensPage.getByRole("button", { name: texts.chat.retry })).toHaveCount(0);
  await bensPage.getByRole("button", { name: texts.chat.discard, exact: true }).first().click();
  await bens.confirmDeletion();
  await expect(bens.message("jamais partie")).toHaveCount(0);
  await bensPage.getByRole("link", { name: gone }).click();
  await expect(bensPage.getByText(texts.people.deletedBody)).toBeVisible();
  await expect(bensPage.getByText("Ana Mbuyi")).toHaveCount(0);
  await expect(bensPage.getByText(formatPhone(ana.phone))).toHaveCount(0);
  await bens.openRoute(`/app/group/${group}`);
  await expect(bens.message("Bonsoir la famille")).toContainText(gone);
  await expect(bensPage.getByText(/Compte supprimé.* a quitté/)).toBeVisible();
  await bens.openRoute("/app");
  await expect(bens.conversation(gone)).toBeVisible();
  await expect(bensPage.getByText("Ana Mbuyi")).toHaveCount(0);
  await bens.openRoute("/app/contacts");
  await expect(bensPage.getByText("Ana Mbuyi")).toHaveCount(0);
  await expect(saysFrom(gone)).toBeVisible();
  await expect(cleos.page.getByText("Ana Mbuyi")).toHaveCount(0);
  await expect(cleos.message("Mbote Ben")).toBeVisible();
  for (const phone of [anas, bens, cleos, tablet]) await phone.close();
});

test("a person whose last proof is old is asked for the password first, and may still cancel the deletion", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 9_453, "Ana Mbuyi");
  const phone = await TestClient.open(browser, server);
  const { page, texts, context } = phone;
  const isUp = waitForWelcome(page);
  await phone.signIn(ana, "/app/profile");
  // The server's answer after five minutes, until the password is shown again.
  let isShown = false;
  await context.route("**/api/auth/proof", async (route) => {
    const response = await route.fetch();
    isShown ||= response.ok(); // before the page learns of it and asks again
    await route.fulfill({ response });
  });
  const refuseUntilShown = () =>
    context.route("**/api/account", (route) =>
      isShown
        ? route.continue()
        : route.fulfill({ status: 403, json: { code: 403, error_code: "reauthentication_needed", msg: "" } }),
    );
  await refuseUntilShown();
  const ask = async () => {
    await page.getByRole("button", { name: texts.profile.deleteAccount, exact: true }).click();
    await page.getByRole("button", { name: texts.profile.deleteConfirm }).click();
  };
  const stepUp = page.getByRole("dialog", { name: texts.security.stepUp.title });
  await ask();
  await expect(stepUp).toBeVisible();
  await stepUp.getByRole("button", { name: texts.common.cancel }).click();
  await expect(stepUp).toBeHidden();
  await expect(page.getByRole("alertdialog")).toBeHidden();
  await expect(page.getByText(texts.profile.deleteFailedTitle)).toHaveCount(0);

  // A person whose session ended without an answer is told that nothing was deleted.
  await context.unroute("**/api/account");
  await isUp; // the page sends no request by itself any more, so it does not find out earlier
  await context.clearCookies({ name: /lisolo/ });
  await ask();
  await expect(page).toHaveURL(/\/login$/);
  await expect(page.getByText(texts.profile.deleteFailedTitle)).toBeVisible();
  await expect(page.getByText(texts.profile.deleteSignedOut)).toBeVisible();
  await phone.signIn(ana, "/app/profile");
  await refuseUntilShown();
  await ask();
  await stepUp.getByLabel(texts.auth.password, { exact: true }).fill("Faux1234");
  await stepUp.getByRole("button", { name: texts.auth.secondStep.go }).click();
  await expect(stepUp.getByText(texts.security.stepUp.passwordWrong)).toBeVisible();
  await stepUp.getByLabel(texts.auth.password, { exact: true }).fill(testPassword);
  await stepUp.getByRole("button", { name: texts.auth.secondStep.go }).click();
  await expect(page).toHaveURL(/\/login$/);
  await expect(page.getByText(texts.profile.deleted)).toBeVisible();
  await phone.close();
});
