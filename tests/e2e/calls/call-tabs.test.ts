import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callLine,
  callScreen,
  expectHearing,
  makeSwitch,
  openCalling,
  patienceMs,
} from "#tests/support/browser/calling.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: patienceMs });
const patient = expect.configure({ timeout: patienceMs });

declare global {
  interface Window {
    /** This page said, if only for a moment, that the call is another tab's. */
    saidOtherTab: boolean;
  }
}

/** As when somebody removes what a site keeps: all of it but for cookies. */
const emptyStore = async (page: Page, origin: string) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "indexeddb" });
  await session.detach();
};

test("a call rings in every tab, is taken in one, outlives pages that are loaded anew, and ends from wherever it is ended", async ({
  browser,
  server,
}) => {
  const { people } = await makeCouple(siteOf(server), 8_300);
  const [ana, ben] = people;
  const [anas, bens, tablet] = [
    await openCalling(browser, server),
    await openCalling(browser, server),
    await openCalling(browser, server),
  ];
  const cut = await makeSwitch(anas.context);
  await anas.signInToChat(ana, ben.id);
  await bens.signIn(ben);
  await tablet.logIn(ben.phone);
  const second = await bens.context.newPage();
  await bens.openChat(ana.id, second);
  const { texts } = anas;
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const accept = (page: Page) => button(page, texts.calls.accept);
  const hangUp = (page: Page) => button(page, texts.calls.hangUp);
  const isTalking = async (page: Page) => {
    await patient(hangUp(page)).toBeVisible();
    await patient(page.getByRole("dialog").getByText(/^(?!00:00)\d\d:\d\d$/)).toBeVisible();
  };

  // Also in a tab that is opened while it rings; taken in one, it is quiet in all of them and on the other device.
  await callButton(anas, ben).click();
  for (const page of [bens.page, second, tablet.page]) await patient(accept(page)).toBeVisible();
  const late = await bens.context.newPage();
  await bens.goTo("/app", late);
  await patient(accept(late)).toBeVisible();
  await accept(second).click();
  const others = [bens.page, late, tablet.page];
  for (const page of others) await patient(accept(page)).toHaveCount(0);
  for (const page of [second, anas.page]) await isTalking(page);

  // His other tabs say where it goes on, from their first moment; another device of his says nothing.
  const otherTab = (page: Page) => page.getByText(texts.calls.otherTab, { exact: true });
  await bens.goTo("/app", late);
  for (const page of [bens.page, late]) await patient(otherTab(page)).toBeVisible();
  for (const page of [second, tablet.page, anas.page]) await expect(otherTab(page)).toHaveCount(0);

  // Either page is loaded anew, hers with the browser's store emptied meanwhile: they talk on, and nothing rings.
  await second.addInitScript((text) => {
    window.saidOtherTab = false;
    new MutationObserver(() => {
      window.saidOtherTab ||= document.body?.textContent?.includes(text) === true;
    }).observe(document, { childList: true, subtree: true });
  }, texts.calls.otherTab);
  await second.reload();
  await isTalking(second);
  expect(await second.evaluate(() => window.saidOtherTab)).toBe(false);
  await anas.goTo("/favicon.svg"); // a page of this origin without a script
  await emptyStore(anas.page, server.origin);
  await anas.goTo(`/app/chat/${ben.id}`);
  await isTalking(anas.page);
  await expectHearing(anas);
  for (const page of others) await expect(accept(page)).toHaveCount(0);

  // She hangs up where the server cannot be reached: his page knows it at once, and tells the server.
  await cut(true);
  await hangUp(anas.page).click();
  await patient(hangUp(second)).toHaveCount(0);
  for (const page of [bens.page, late]) await patient(otherTab(page)).toHaveCount(0);
  const line = second
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: /Appel audio terminé/ });
  await patient(line).toHaveCount(1);
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await cut(false);
  // In no call any more, a page that nobody tells so comes back when it looks again by itself.
  await anas.page.evaluate(() => dispatchEvent(new Event("online")));
  await patient(callLine(anas, "Vous : Appel audio terminé")).toHaveCount(1);

  // Whoever logs out in another tab than the call's is asked; the call ends before the session does.
  await patient(callButton(anas, ben)).toBeEnabled();
  await callButton(anas, ben).click();
  await accept(second).click();
  for (const page of [second, anas.page]) await isTalking(page);
  await bens.goTo("/app/profile");
  const leave = button(bens.page, texts.profile.signOut);
  await leave.click();
  const question = bens.page.getByRole("alertdialog").or(bens.page.getByRole("dialog"));
  await patient(question).toContainText(texts.profile.inCall);
  await button(bens.page, texts.profile.stay).click();
  await isTalking(second);
  await leave.click();
  await question.getByRole("button", { name: texts.profile.signOutAnyway }).click();
  await bens.page.waitForURL(/\/$/);
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await patient(callLine(anas, "Vous : Appel audio terminé")).toHaveCount(2);
  for (const phone of [anas, bens, tablet]) await phone.close();
});
