import type { Page } from "@playwright/test";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

/** Message with exactly this text of its own; a quote of it does not count. */
const findMessage = (phone: TestClient, text: string) =>
  phone.page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ has: phone.page.locator("bdi.whitespace-pre-wrap").getByText(text, { exact: true }) });

const openReply = async (phone: TestClient, text: string) => {
  await findMessage(phone, text).locator("bdi").last().click({ button: "right" });
  await phone.page.getByRole("menuitem", { name: phone.texts.messages.reply, exact: true }).click();
};

/** Swipes to the right on a message with a finger. */
const swipe = async (page: Page, phone: TestClient, text: string) => {
  const box = await findMessage(phone, text).locator("bdi").last().boundingBox();
  if (!box) throw new Error(`${text} is not on screen`);
  const session = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", dx: number) =>
    session.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: type === "touchEnd" ? [] : [{ x: box.x + 5 + dx, y: box.y + box.height / 2 }],
    });
  // Sent together, because a finger that rests opens the menu.
  await Promise.all([
    touch("touchStart", 0),
    ...[15, 30, 45, 60, 75].map((dx) => touch("touchMove", dx)),
    touch("touchEnd", 75),
  ]);
  await session.detach();
};

test("two people answer each other's messages: by menu, swipe and keyboard, offline, and from quote to original and back", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 8801, "Ana Mbuyi"), await makePerson(site, 8802, "Ben")];
  await connectPeople(site, ana, ben);
  const id = await makeGroup(site, ana, "Famille", [ben]);
  const long = Array.from({ length: 90 }, (_, n) => `remplissage ${n}`);
  await sendTexts(site, ben, id, ["On part à quelle heure ?", ...long, "Prenez de l'eau"]);
  const anas = await TestClient.openIn(
    await browser.newContext({
      ...withServiceWorker,
      baseURL: server.origin,
      viewport: { width: 360, height: 740 },
      hasTouch: true,
    }),
    server,
    "en",
  );
  const bens = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  await anas.signIn(ana, `/app/group/${id}`);
  await bens.signIn(ben, `/app/group/${id}`);
  const { page, texts } = anas;
  const cancel = page.getByRole("button", { name: texts.chat.cancelReply });

  // By the menu, cancelled by Escape; then by a swipe. The draft survives a reload.
  await openReply(anas, "Prenez de l'eau");
  await expect(anas.composer()).toBeFocused();
  await expect(anas.composer()).toHaveAccessibleDescription(
    new RegExp(`${texts.messages.inReplyTo} Ben.*Prenez de l'eau`),
  );
  await page.keyboard.press("Escape");
  await expect(cancel).toHaveCount(0);
  // The first touch loads the code of swipes.
  await expect(async () => {
    await swipe(page, anas, "Prenez de l'eau");
    await expect(cancel).toBeVisible({ timeout: 2_000 });
  }).toPass();
  await anas.composer().fill("Deux bidons");
  expect(await findAxeViolations(page)).toEqual([]);
  await page.reload();
  await expect(anas.composer()).toHaveValue("Deux bidons");
  await expect(cancel).toBeVisible();

  // Offline: to Ben's message, and to the own reply that has not left yet.
  await waitForOfflineReady(page);
  await anas.context.setOffline(true);
  await anas.composer().press("Enter");
  await expect(cancel).toHaveCount(0);
  await openReply(anas, "Deux bidons");
  await anas.write("Non, trois");
  await expect(findMessage(anas, "Non, trois")).toContainText("Deux bidons");
  await anas.context.setOffline(false);
  const [first, second] = [findMessage(bens, "Deux bidons"), findMessage(bens, "Non, trois")];
  await expect(second).toBeVisible({ timeout: 30_000 });
  await expect(first).toContainText(`${bens.texts.messages.inReplyTo} ${bens.texts.common.you}`);
  await expect(first).toContainText("Prenez de l'eau");
  await expect(second).toContainText("Ana Mbuyi");
  expect(await findAxeViolations(bens.page)).toEqual([]);
  await openReply(bens, "Non, trois");
  await bens.write("D'accord");
  await expect(findMessage(anas, "D'accord")).toContainText("Non, trois");

  // A quote of a message that is not on the device leads to it, and back.
  const path = `/api/conversations/${id}/messages`;
  const answer = { messages: [{ cid: crypto.randomUUID(), body: { type: "text", text: "À six heures", reply: 2 } }] };
  const sent = await callSite(site, "POST", path, { token: ana.token, body: answer });
  expect(sent.status).toBe(200);
  const reply = findMessage(bens, "À six heures");
  await expect(reply.getByRole("button", { name: /On part à quelle heure/ })).toBeVisible();
  await reply.getByRole("button", { name: bens.texts.messages.options.split("{")[0] ?? "" }).focus();
  await bens.page.keyboard.press("Enter");
  await bens.page.getByRole("menuitem", { name: bens.texts.messages.showQuoted }).press("Enter");
  await expect(findMessage(bens, "On part à quelle heure ?")).toBeInViewport();
  const back = bens.page.getByRole("button", { name: bens.texts.chat.returnToReply });
  await back.press("Enter");
  await expect(reply).toBeInViewport();
  await expect(reply.getByRole("button").last()).toBeFocused();
  await expect(back).toHaveCount(0);

  // The original is deleted for everyone: no quote shows its words any more.
  await callSite(site, "DELETE", `${path}/2`, { token: ben.token });
  await expect(findMessage(bens, "À six heures")).toContainText(bens.texts.messages.deleted);
  await expect(page.getByText("On part à quelle heure ?")).toHaveCount(0);
  await expect(findMessage(anas, "À six heures")).toContainText(texts.messages.deleted);
  await anas.close();
  await bens.close();
});
