import type { Page } from "@playwright/test";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";
import { expect, listNotifications, test } from "#tests/support/push/push-browser.ts";
import { tapNotification, turnOn } from "#tests/support/push/push-client.ts";

const arrivalMs = 15_000; // reactions are collected for some seconds

/** Whether the notification with a tag is silent. */
const isSilent = (page: Page, tag: string): Promise<boolean | null | undefined> =>
  page.evaluate(
    async (of) => (await (await navigator.serviceWorker.getRegistration())?.getNotifications({ tag: of }))?.[0]?.silent,
    tag,
  );

test("a reaction is announced silently while the app is closed, beside unread messages, and opens the chat at its message", async ({
  server,
  service,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_974);
  const [ana, ben] = people;
  const react = (seq: number, emoji: string | null) => {
    const path = `/api/conversations/${conversation}/messages/${seq}/reaction`;
    return callSite(site, "PUT", path, { token: ben.token, body: { emoji } });
  };
  const browser = makePushBrowser();
  const phone = await browser.open({ language: "pt" });
  await turnOn(phone, ana);
  const bare = await browser.openBarePage();
  await phone.page.close();
  await sendTexts(
    site,
    ana,
    conversation,
    Array.from({ length: 120 }, (_, n) => `ligne ${n + 1}.`),
  );
  await sendTexts(site, ben, conversation, ["Mbote"]);
  const ofMessages = { title: ben.username, body: "Mbote", tag: `c:${conversation}` };
  await expect.poll(() => listNotifications(bare)).toEqual([ofMessages]);

  for (const emoji of ["👍", "🎉"]) expect(await react(3, emoji)).toMatchObject({ status: 200 });
  const tag = `reaction:${conversation}`;
  const body = `${ben.username} reagiu com 🎉 a: «ligne 3.»`;
  await expect
    .poll(() => listNotifications(bare), { timeout: arrivalMs })
    .toEqual(expect.arrayContaining([ofMessages, { title: ben.username, body, tag }]));
  expect([await isSilent(bare, tag), await isSilent(bare, ofMessages.tag)]).toEqual([true, false]);
  expect(service.received.at(-1)?.headers).toMatchObject({ urgency: "normal" });

  // In the open app a tap leads to the message and closes the notification.
  const page = await phone.context.newPage();
  await page.goto(`${server.origin}/app`);
  await expect(page.getByRole("link", { name: ben.username }).first()).toBeVisible();
  await bare.close();
  const message = page.getByRole("main").getByText("ligne 3.", { exact: true });
  await tapNotification(phone, tag);
  await expect(page).toHaveURL(`${server.origin}/app/chat/${ben.id}`);
  await expect(message).toBeInViewport();
  await expect.poll(() => listNotifications(page)).toEqual([]);

  // The address of a closed app does the same.
  await page.goto(`${server.origin}/app/chat/${ben.id}#m3`);
  await expect(message).toBeInViewport({ timeout: arrivalMs });
  await expect(page).toHaveURL(`${server.origin}/app/chat/${ben.id}`);
});
