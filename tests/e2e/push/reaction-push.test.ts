import type { Page } from "@playwright/test";
import * as v from "valibot";
import { GroupInvitations } from "#contract/groups.ts";
import { fill } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
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

  await test.step("invitations to groups are announced, closed once answered elsewhere, and open Senga", async () => {
    const last = await browser.openBarePage();
    await page.close();
    await callSite(site, "PATCH", "/api/settings", { token: ana.token, body: { groupAdds: "nobody" } });
    for (const [n, name] of ["Quartier", "Chorale"].entries()) {
      await makeGroup(site, ben, name, [ana]);
      await expect.poll(async () => (await listNotifications(last)).length).toBe(n + 1);
    }
    const { body } = await callSite(site, "GET", "/api/group-invitations", { token: ana.token });
    const [newest, first] = v.parse(GroupInvitations, body).invitations.map(({ id }) => id);
    const toShown = (id: string | undefined) => ({
      title: ben.username,
      body: "Convite para um grupo",
      tag: `invitation:${id}`,
    });
    expect(await listNotifications(last)).toEqual(expect.arrayContaining([toShown(first), toShown(newest)]));
    const opened = await phone.context.newPage();
    await opened.goto(`${server.origin}/app`);
    const bar = opened.getByRole("navigation", { name: phone.texts.shell.navigation });
    await expect(bar.getByText(fill(phone.texts.shell.received_other, { count: 2 }))).toBeAttached();
    await callSite(site, "POST", `/api/group-invitations/${newest}/decline`, { token: ana.token });
    await expect.poll(() => listNotifications(last)).toEqual([toShown(first)]);
    await last.close();
    await tapNotification(phone, `invitation:${first}`);
    await expect(opened).toHaveURL(`${server.origin}/app/senga`);
    await expect.poll(() => listNotifications(opened)).toEqual([]);
  });
});
