import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts } from "#tests/support/browser/cold-start.ts";
import { writeEarly } from "#tests/support/browser/early-messages.ts";
import { dropAppFiles, isSending, openWarm, watchPosts } from "#tests/support/browser/snapshots.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person, type Site } from "#tests/support/people/people.ts";
import { readServerLog, readServerTexts } from "#tests/support/server/logs.ts";

/** Texts that people have written in a conversation. */
const readWrittenTexts = async (site: Site, reader: Person, conversation: string) =>
  (await readServerTexts(site, reader, conversation)).filter((text) => !text.startsWith("<"));

test("an early message is refused after blocking the person, the end of the connection or leaving the group on another device; the app explains it and keeps the text", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ben, ana, cleo] = (await makeFriends(site, 9741, 3)) as [Person, Person, Person];
  const group = await makeGroup(site, ana, "Chorale", [ben]);
  const scenes = [
    { conversation: privateConversationId(ana.id, ben.id), path: `/app/chat/${ana.id}`, reader: ana },
    { conversation: privateConversationId(cleo.id, ben.id), path: `/app/chat/${cleo.id}`, reader: cleo },
    { conversation: group, path: `/app/group/${group}`, reader: ana },
  ];
  for (const { conversation, reader } of scenes) await sendTexts(site, reader, conversation, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { errors, groups } = client.texts;
  const reasons = [errors.contact_blocked, errors.not_connected, groups.chat.notMember];
  const release = await holdScripts(client.context);
  const tabs = [client.page, await client.context.newPage(), await client.context.newPage()];
  for (const [n, tab] of tabs.entries()) {
    await tab.goto(scenes[n]?.path ?? "", { waitUntil: "commit" });
    await expect(firstView(tab).getByRole("textbox")).toBeEditable();
  }
  for (const [method, path] of [
    ["PUT", `/api/blocks/${ana.id}`],
    ["DELETE", `/api/contacts/${cleo.id}`],
    ["DELETE", `/api/groups/${group}/members/${ben.id}`],
  ] as const)
    expect((await callSite(site, method, path, { token: ben.token })).status).toBeLessThan(300);

  const statuses: number[] = [];
  client.context.on("response", (response) => {
    if (isSending(response.request())) statuses.push(response.status());
  });
  for (const [n, tab] of tabs.entries()) {
    await tab.bringToFront();
    await writeEarly(tab, "refusé");
    await expect.poll(() => statuses).toHaveLength(n + 1);
    expect(statuses[n]).toBeGreaterThanOrEqual(400);
  }
  await client.page.waitForTimeout(6_000); // not repeated
  expect(statuses).toHaveLength(3);
  release();
  for (const [n, tab] of tabs.entries()) {
    await tab.bringToFront();
    await waitForTakeover(tab);
    await expect(tab.getByRole("main").getByText("refusé", { exact: true })).toBeVisible();
    await expect(
      tab
        .getByRole("main")
        .getByText(reasons[n] ?? "")
        .first(),
    ).toBeVisible();
  }
  for (const { conversation, reader } of scenes)
    expect(await readWrittenTexts(site, reader, conversation)).toEqual(["bonjour"]);
});

test("in a group, an early message is not sent as another member whose cookies replaced the session's; a text that may mention a member, and those after it, wait for the app", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = (await makeFriends(site, 9749, 3)) as [Person, Person, Person];
  const group = await makeGroup(site, ana, "Chorale", [ben, cleo]);
  await sendTexts(site, ana, group, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const posted = watchPosts(client);
  const release = await holdScripts(client.context);
  await page.goto(`/app/group/${group}`, { waitUntil: "commit" });
  const texts = ["avant", `pour @${cleo.username}`, "après"];
  for (const text of texts) await writeEarly(page, text);
  await expect(firstView(page).getByRole("img", { name: client.texts.chat.status.sent, exact: true })).toHaveCount(1);
  expect(await readWrittenTexts(site, ana, group)).toEqual(["bonjour", "avant"]);
  release();
  await expect(client.ticks("après", "sent", page)).toBeVisible({ timeout: 30_000 });
  expect(await readWrittenTexts(site, ana, group)).toEqual(["bonjour", ...texts]);
  expect(posted).toEqual(["avant"]);

  await dropAppFiles(page);
  const releaseNext = await holdScripts(client.context);
  await page.reload({ waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  await client.setSessionCookies(cleo);
  const answered = client.context.waitForEvent("response", (response) => isSending(response.request()));
  await writeEarly(page, "de la bonne personne");
  expect((await answered).status()).toBe(401);
  expect(await readWrittenTexts(site, ana, group)).toEqual(["bonjour", ...texts]);
  await client.setSessionCookies(ben);
  releaseNext();
  await expect(client.ticks("de la bonne personne", "sent", page)).toBeVisible({ timeout: 30_000 });
  const log = await readServerLog(site, ana, group);
  const senders = log.filter(({ text }) => text === "de la bonne personne").map(({ sender }) => sender);
  const { body } = await callSite(site, "GET", `/api/groups/${group}/members`, { token: ana.token });
  expect(senders).toHaveLength(1);
  const numbers = (body as { members: { number: number; profile: { id: string } }[] }).members;
  expect(numbers.find(({ number }) => number === senders[0])?.profile.id).toBe(ben.id);
});
