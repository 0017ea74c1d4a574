import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { callButton, callControl, openCallClient } from "#tests/support/browser/call-client.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

type ToastRecord = { text: string; shownMs: number; covered: string[] };

declare global {
  interface Window {
    /** Every toast that was drawn, for how long, and what it covered in two frames in a row. */
    toasts: ToastRecord[];
  }
}

/**
 * Measures each drawn frame: a toast against the end of the page and the newest message. What changes the layout after
 * the position of the toast was computed may be covered for one frame.
 */
const recordToasts = () => {
  window.toasts = [];
  const kept = { composer: "form[data-page-end]", "tab bar": "nav[data-page-end]", "newest message": "[data-newest]" };
  const visibleBox = (element: Element) => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    const list = element.closest(".overflow-y-auto")?.getBoundingClientRect();
    return { top: Math.max(top, list?.top ?? top), bottom: Math.min(bottom, list?.bottom ?? bottom), left, right };
  };
  let shown: { since: number; record: ToastRecord } | undefined;
  let coveredBefore: string[] = [];
  const measure = () => {
    const element = document.querySelector("[data-toast]");
    const text = element?.textContent ?? "";
    if (!element) [shown, coveredBefore] = [undefined, []];
    // A toast of a dialog continues on the page below it.
    else if (text !== shown?.record.text) {
      const record = { text, shownMs: 0, covered: [] };
      window.toasts.push(record);
      shown = { since: performance.now(), record };
    }
    if (!element || !shown) return;
    shown.record.shownMs = performance.now() - shown.since;
    const toast = element.getBoundingClientRect();
    const isCovered = (box: Pick<DOMRect, "top" | "bottom" | "left" | "right">) =>
      box.bottom > box.top &&
      box.left < toast.right &&
      box.right > toast.left &&
      box.top < toast.bottom - 1 &&
      box.bottom > toast.top + 1;
    const covered = Object.entries(kept).flatMap(([name, selector]) =>
      [...document.querySelectorAll(selector)].map(visibleBox).some(isCovered) ? [name] : [],
    );
    shown.record.covered.push(...covered.filter((name) => coveredBefore.includes(name)));
    coveredBefore = covered;
  };
  // After the frame was drawn, so that a position corrected before it does not count.
  const drawn = new MessageChannel();
  drawn.port1.onmessage = measure;
  const nextFrame = () => {
    drawn.port2.postMessage(undefined);
    requestAnimationFrame(nextFrame);
  };
  requestAnimationFrame(nextFrame);
};

const listToasts = (page: Page): Promise<ToastRecord[]> => page.evaluate(() => window.toasts);
const choose = async (client: TestClient, words: string, item: string) => {
  await client.message(words).locator("bdi").first().click({ button: "right" });
  await client.page.getByRole("menuitem", { name: item, exact: true }).click();
};
const chooseInHeader = async ({ page, texts }: TestClient, item: string) => {
  await page.getByRole("main").getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};

test("what the chat itself shows is said to screen readers alone, and a line covers neither the composer nor the newest message", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_390, "Ana Mbuyi"), await makePerson(site, 9_391, "Ben")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ben, id, ["Le code est 4821", "Rendez-vous à midi", "À demain"]);
  await sendTexts(site, ana, id, ["D'accord"]);
  const phone = await openCallClient(browser, server);
  await phone.context.addInitScript(recordToasts);
  await phone.context.grantPermissions(["clipboard-write"]);
  const bens = await openCallClient(browser, server);
  await phone.signInToChat(ana, ben.id);
  await bens.signIn(ben);
  const { page, texts } = phone;
  const said = (text: string) => expect(page.getByRole("status").getByText(text, { exact: true })).toBeAttached();

  await choose(phone, "Le code est 4821", texts.starred.add);
  await said(texts.starred.added);
  await expect(phone.message("Le code est 4821").getByRole("img", { name: texts.messages.starred })).toBeVisible();
  await choose(phone, "Rendez-vous à midi", texts.pins.pin);
  await expect(page.getByText(texts.groups.events.pinnedByMe)).toBeVisible();
  await choose(phone, "D'accord", texts.common.delete);
  await page.getByRole("button", { name: texts.messages.deleteForAll }).click();
  await said(texts.messages.deletedDone);
  await chooseInHeader(phone, texts.mute.on);
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await said(texts.mute.isOn);
  await expect(page.getByRole("main").getByRole("img", { name: texts.mute.isOn })).toBeVisible();
  await callButton(phone, ben).click();
  await callControl(bens, "decline").click();
  await said(texts.calls.say.rejected);
  await expect(page.getByText(fill(texts.callLines.outcomes.audio.declinedBy, { name: "Ben" }))).toBeVisible();
  expect(await listToasts(page)).toEqual([]);

  // Copying changes nothing on the screen: one line says it, while a message arrives and the answer grows.
  await choose(phone, "À demain", texts.messages.copy);
  await expect(findToast(page)).toHaveText(texts.messages.copied);
  await sendTexts(site, ben, id, ["Et toi ?"]);
  await phone.composer().fill("Moi\naussi\nbien");
  await expect(phone.message("Et toi ?")).toBeVisible();
  await expect(findToast(page)).toHaveCount(0);
  await choose(phone, "Et toi ?", texts.messages.forward);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: /Ben/ }).check({ force: true });
  await dialog.getByRole("button", { name: fill(texts.messages.forwardTo_one, { count: 1 }) }).click();
  await expect(findToast(page)).toHaveText(fill(texts.messages.forwarded_one, { count: 1 }));
  await expect(findToast(page)).toHaveCount(0);

  // Blocking leaves the chat: the line stands above the tab bar of the list.
  await chooseInHeader(phone, texts.people.block);
  await page.getByRole("alertdialog").getByRole("button", { name: texts.people.block, exact: true }).click();
  await expect(page).toHaveURL(/\/app$/);
  await expect(findToast(page)).toHaveText(fill(texts.people.blocked, { name: "Ben" }));
  await expect(findToast(page)).toHaveCount(0);
  for (const { text, shownMs, covered } of await listToasts(page)) {
    expect(covered, text).toEqual([]);
    expect(shownMs, text).toBeGreaterThan(1_900);
    expect(shownMs, text).toBeLessThan(4_500);
  }
  for (const client of [phone, bens]) await client.close();
});

test("a toast with an action stays for five seconds, its button below the text, and moves out of the way in a chat", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9_392, "Ana Mbuyi");
  for (const [index, name] of ["Ben", "Cléo"].entries()) {
    const other = await makePerson(site, 9_393 + index, name);
    await connectPeople(site, ana, other);
    await sendTexts(site, other, privateConversationId(ana.id, other.id), [`de ${name}`]);
  }
  const phone = await TestClient.open(browser, server);
  await phone.context.addInitScript(recordToasts);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await phone.conversation("Ben").click({ button: "right" });
  await page.getByRole("menuitem", { name: texts.masolo.archive, exact: true }).click();
  const toast = findToast(page);
  await expect(toast).toContainText(texts.masolo.flagged.archive);
  const undo = toast.getByRole("button", { name: texts.masolo.undo });
  // Both in one moment: the toast is still moving in.
  const text = await toast.getByText(texts.masolo.flagged.archive).elementHandle();
  const room = await undo.evaluate(
    (button, above) => button.getBoundingClientRect().top - (above as Element).getBoundingClientRect().bottom,
    text,
  );
  expect(room).toBeGreaterThanOrEqual(0);
  await phone.conversation("Cléo").click();
  await expect(phone.composer()).toBeVisible();
  await expect(phone.message("de Cléo")).toBeVisible();
  await expect(toast).toHaveCount(0);
  // An error too, in the chat. The code of the menu is loaded first.
  await phone.message("de Cléo").locator("bdi").first().click({ button: "right" });
  await expect(page.getByRole("menuitem", { name: texts.pins.pin, exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await phone.context.setOffline(true);
  await choose(phone, "de Cléo", texts.pins.pin);
  await expect(toast).toContainText(texts.errors.offline);
  await expect(toast).toHaveCount(0);
  const toasts = await listToasts(page);
  expect(toasts).toHaveLength(2);
  for (const { text, shownMs, covered } of toasts) {
    expect(covered, text).toEqual([]);
    expect(shownMs, text).toBeGreaterThan(4_500);
  }
  await phone.close();
});
