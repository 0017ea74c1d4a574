import type { Page } from "@playwright/test";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callEntry,
  callScreen,
  callTimeoutMs,
  expectHearing,
  makeNetworkSwitch,
  openCallClient,
  pauseBetweenTaps,
} from "#tests/support/browser/call-client.ts";
import { fill } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: callTimeoutMs });
const connectMs = 90_000; // five pages with a call on a machine that may be busy
const patient = expect.configure({ timeout: callTimeoutMs });

declare global {
  interface Window {
    /** Waits until this page says, even for a moment, that the call belongs to another tab. */
    saidOtherTab: boolean;
  }
}

/** Clears the site's storage except its cookies. */
const emptyStore = async (page: Page, origin: string) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "indexeddb" });
  await session.detach();
};

test("a call rings in every tab, is answered in one, survives reloads and its closed tab, and can be ended anywhere", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 8_300);
  const [ana, ben] = people;
  const [anas, bens] = [await openCallClient(browser, server), await openCallClient(browser, server)];
  const cut = await makeNetworkSwitch(anas.context);
  await anas.signInToChat(ana, ben.id);
  await bens.signIn(ben);
  const second = await bens.context.newPage();
  await bens.openChat(ana.id, second);
  const { texts } = anas;
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const accept = (page: Page) => button(page, texts.calls.accept);
  const hangUp = (page: Page) => button(page, texts.calls.hangUp);
  const isTalking = async (page: Page) => {
    await patient(hangUp(page)).toBeVisible();
    const clock = page.getByRole("dialog").getByText(/^(?!00:00)\d\d:\d\d$/);
    await expect(clock).toBeVisible({ timeout: connectMs });
  };

  // Also in a tab opened while it rings. Answered in one tab, it stops ringing in all tabs.
  await callButton(anas, ben).click();
  for (const page of [bens.page, second]) await patient(accept(page)).toBeVisible();
  const late = await bens.context.newPage();
  await bens.goTo("/app", late);
  await patient(accept(late)).toBeVisible();
  await accept(second).click();
  const others = [bens.page, late];
  for (const page of others) await patient(accept(page)).toHaveCount(0);
  for (const page of [second, anas.page]) await isTalking(page);

  // His other tabs say where the call continues, from their first moment, and show nothing more of it. No other call
  // can start there.
  const otherTab = (page: Page) => page.getByText(texts.calls.otherTab, { exact: true });
  await bens.openChat(ana.id, late);
  for (const page of others) {
    await patient(otherTab(page)).toBeVisible();
    await expect(page.getByText(ana.username, { exact: true }).first()).toBeVisible();
    await expect(button(page, texts.calls.resume)).toHaveCount(0);
  }
  for (const page of [second, anas.page]) await expect(otherTab(page)).toHaveCount(0);
  await expect(button(late, fill(texts.people.audioCallName, { name: ana.username }))).toBeDisabled();
  await expect(late.getByRole("region", { name: texts.calls.banner, exact: true })).toHaveCount(0);
  await expect(late.getByRole("dialog")).toHaveCount(0);
  expect(await findAxeViolationsInBothThemes(bens.page)).toEqual([]);

  // Either page is reloaded, hers with empty browser storage: the call continues, and nothing rings.
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

  // She hangs up without a connection to the server: his page knows it at once, and tells the server.
  await cut(true);
  await hangUp(anas.page).click();
  await patient(hangUp(second)).toHaveCount(0);
  for (const page of others) await patient(otherTab(page)).toHaveCount(0);
  const line = second
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: /Appel audio terminé/ });
  await patient(line).toHaveCount(1);
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await cut(false);
  // A page that missed the end of the call comes back by itself when it checks again.
  await anas.page.evaluate(() => dispatchEvent(new Event("online")));
  await patient(callEntry(anas, "Vous : Appel audio terminé")).toHaveCount(1);

  // The tab of the next call is closed: it continues in another one, and can be ended there.
  const answerIn = async (page: Page) => {
    await patient(callButton(anas, ben)).toBeEnabled();
    await callButton(anas, ben).click();
    await accept(page).click();
    for (const one of [page, anas.page]) await isTalking(one);
  };
  await answerIn(second);
  await second.close();
  await button(late, texts.calls.resume).click();
  await patient(late.getByRole("dialog", { name: ana.username })).toBeVisible();
  await expectHearing(anas);
  await pauseBetweenTaps({ page: late });
  await hangUp(late).click();
  await patient(callScreen(anas, ben)).toHaveCount(0);

  // The call can also be ended while it belongs to another tab.
  await answerIn(late);
  await patient(otherTab(bens.page)).toBeVisible();
  await hangUp(bens.page).click();
  await patient(otherTab(bens.page)).toHaveCount(0);
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await patient(hangUp(late)).toHaveCount(0);

  // Logging out in another tab than the call's needs a confirmation; the call ends before the session.
  await answerIn(late);
  await bens.openRoute("/app/profile");
  const leave = button(bens.page, texts.profile.signOut);
  await leave.click();
  const question = bens.page.getByRole("alertdialog").or(bens.page.getByRole("dialog"));
  await patient(question).toContainText(texts.profile.inCall);
  await button(bens.page, texts.profile.stay).click();
  await isTalking(late);
  await leave.click();
  await question.getByRole("button", { name: texts.profile.signOutAnyway }).click();
  await bens.page.waitForURL(/\/$/);
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await patient(callEntry(anas, "Vous : Appel audio terminé")).toHaveCount(4);
  for (const phone of [anas, bens]) await phone.close();
});
