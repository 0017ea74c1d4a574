import type { Page } from "@playwright/test";
import * as v from "valibot";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { callButton, openCallClient } from "#tests/support/browser/call-client.ts";
import { fill, findToast, type TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

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

const Calls = v.object({ calls: v.array(v.object({ call_id: v.string() })) });

const listToasts = (page: Page): Promise<ToastRecord[]> => page.evaluate(() => window.toasts);
const choose = async (client: TestClient, words: string, item: string) => {
  await client.message(words).locator("bdi").first().click({ button: "right" });
  await client.page.getByRole("menuitem", { name: item, exact: true }).click();
};
const chooseInHeader = async ({ page, texts }: TestClient, item: string) => {
  await page.getByRole("main").getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};

/** Declines the call that rings for this person, as a device elsewhere does. */
const decline = async (site: Site, { token }: Person, from: Person): Promise<void> => {
  const list = async () => v.parse(Calls, (await callSite(site, "GET", "/api/calls", { token })).body).calls;
  await expect.poll(list).toHaveLength(1);
  const [call] = await list();
  const body = { to_user_id: from.id, status: "rejected" };
  expect((await callSite(site, "POST", `/api/calls/${call?.call_id}/end`, { token, body })).status).toBe(200);
};

test("a toast with an action stays for five seconds, its button below the text, and moves out of the way in a chat; what the chat itself shows is said to screen readers alone, and a line covers neither the composer nor the newest message", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_390, "Ana Mbuyi"), await makePerson(site, 9_391, "Ben")];
  const cleo = await makePerson(site, 9_392, "Cléo");
  for (const other of [ben, cleo]) await connectPeople(site, ana, other);
  const id = privateConversationId(ana.id, cleo.id);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["de Ben"]);
  await sendTexts(site, cleo, id, ["Le code est 4821", "Rendez-vous à midi", "À demain"]);
  await sendTexts(site, ana, id, ["D'accord"]);
  const phone = await openCallClient(browser, server);
  await phone.context.addInitScript(recordToasts);
  await phone.context.grantPermissions(["clipboard-write"]);
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
  await expect(phone.message("À demain")).toBeVisible();
  await expect(toast).toHaveCount(0);
  // An error too, in the chat. The code of the menu is loaded first.
  await phone.message("À demain").locator("bdi").first().click({ button: "right" });
  await expect(page.getByRole("menuitem", { name: texts.pins.pin, exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await phone.context.setOffline(true);
  await choose(phone, "À demain", texts.pins.pin);
  await expect(toast).toContainText(texts.errors.offline);
  await phone.context.setOffline(false);
  await expect(toast).toHaveCount(0);
  const lasting = await listToasts(page);
  expect(lasting).toHaveLength(2);
  for (const { text, shownMs, covered } of lasting) {
    expect(covered, text).toEqual([]);
    expect(shownMs, text).toBeGreaterThan(4_500);
  }

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
  await callButton(phone, cleo).click();
  await decline(site, cleo, ana);
  await said(texts.calls.say.rejected);
  await expect(page.getByText(fill(texts.callLines.outcomes.audio.declinedBy, { name: "Cléo" }))).toBeVisible();
  expect(await listToasts(page)).toHaveLength(lasting.length);

  // Copying changes nothing on the screen: one line says it, while a message arrives and the answer grows.
  await choose(phone, "À demain", texts.messages.copy);
  await expect(toast).toHaveText(texts.messages.copied);
  await sendTexts(site, cleo, id, ["Et toi ?"]);
  await phone.composer().fill("Moi\naussi\nbien");
  await expect(phone.message("Et toi ?")).toBeVisible();
  await expect(toast).toHaveCount(0);
  await choose(phone, "Et toi ?", texts.messages.forward);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: /Cléo/ }).check({ force: true });
  await dialog.getByRole("button", { name: fill(texts.messages.forwardTo_one, { count: 1 }) }).click();
  await expect(toast).toHaveText(fill(texts.messages.forwarded_one, { count: 1 }));
  await expect(toast).toHaveCount(0);

  // Blocking leaves the chat: the line stands above the tab bar of the list.
  await chooseInHeader(phone, texts.people.block);
  await page.getByRole("alertdialog").getByRole("button", { name: texts.people.block, exact: true }).click();
  await expect(page).toHaveURL(/\/app$/);
  await expect(toast).toHaveText(fill(texts.people.blocked, { name: "Cléo" }));
  await expect(toast).toHaveCount(0);
  const lines = (await listToasts(page)).slice(lasting.length);
  expect(lines).toHaveLength(3);
  for (const { text, shownMs, covered } of lines) {
    expect(covered, text).toEqual([]);
    expect(shownMs, text).toBeGreaterThan(1_900);
    expect(shownMs, text).toBeLessThan(4_500);
  }
  await phone.close();
});
