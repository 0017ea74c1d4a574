import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat } from "#tests/support/browser/cold-start.ts";
import { isSending, openWarm, watchPosts } from "#tests/support/browser/snapshots.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person, type Site } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

/** A person of a document, the conversation it shows, and a member who can read its log. */
type Scene = { person: Person; reader: Person; conversation: string; path: string };

const makePrivateScene = async (site: Site, n: number): Promise<Scene> => {
  const { ana, ben, conversation } = await makeChat(site, n, ["bonjour"]);
  return { person: ben, reader: ana, conversation, path: `/app/chat/${ana.id}` };
};

const makeGroupScene = async (site: Site, n: number): Promise<Scene & { other: Person }> => {
  const [ana, ben, cleo] = (await makeFriends(site, n, 3)) as [Person, Person, Person];
  const group = await makeGroup(site, ana, "Chorale", [ben, cleo]);
  await sendTexts(site, ana, group, ["bonjour"]);
  return { person: ben, other: cleo, reader: ana, conversation: group, path: `/app/group/${group}` };
};

const readOwnTexts = async (site: Site, { reader, conversation }: Scene) =>
  (await readServerLog(site, reader, conversation)).map(({ text }) => text).filter((text) => !text.startsWith("<"));

const refusals = [
  { title: "after blocking the person", n: 9741, make: makePrivateScene, method: "PUT", error: "contact_blocked" },
  { title: "after the connection ended", n: 9743, make: makePrivateScene, method: "DELETE", error: "not_connected" },
  { title: "after leaving the group", n: 9745, make: makeGroupScene, method: "DELETE", error: undefined },
] as const;

for (const { title, n, make, method, error } of refusals)
  test(`an early message is refused ${title} on another device; the app explains it and keeps the text`, async ({
    browser,
    server,
  }) => {
    const site = toSite(server);
    const scene = await make(site, n);
    const { person, reader, conversation, path } = scene;
    const client = await openWarm(browser, server, person);
    const { page } = client;
    const release = await holdScripts(client.context);
    await page.goto(path, { waitUntil: "commit" });
    await expect(firstView(page).getByRole("textbox")).toBeEditable();
    const changed = await callSite(
      site,
      method,
      error === "contact_blocked"
        ? `/api/blocks/${reader.id}`
        : error === "not_connected"
          ? `/api/contacts/${reader.id}`
          : `/api/groups/${conversation}/members/${person.id}`,
      { token: person.token },
    );
    expect(changed.status).toBeLessThan(300);
    const statuses: number[] = [];
    client.context.on("response", (response) => {
      if (isSending(response.request())) statuses.push(response.status());
    });
    await firstView(page).getByRole("textbox").fill("refusé");
    await page.keyboard.press("Enter");
    await expect.poll(() => statuses).toHaveLength(1);
    expect(statuses[0]).toBeGreaterThanOrEqual(400);
    await page.waitForTimeout(6_000); // not repeated
    expect(statuses).toHaveLength(1);
    release();
    await waitForTakeover(page);
    const { errors, groups } = client.texts;
    const reason = error === undefined ? groups.chat.notMember : errors[error];
    await expect(page.getByRole("main").getByText("refusé", { exact: true })).toBeVisible();
    await expect(page.getByRole("main").getByText(reason).first()).toBeVisible();
    expect(await readOwnTexts(site, scene)).toEqual(["bonjour"]);
  });

test("an early message is not sent as another person whose cookies replaced the session's", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const scene = await makeGroupScene(site, 9749);
  const { person, other, conversation } = scene;
  const client = await openWarm(browser, server, person);
  const { page } = client;
  const release = await holdScripts(client.context);
  await page.goto(scene.path, { waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  await client.setSessionCookies(other); // a member of the same group
  const answered = client.context.waitForEvent("response", (response) => isSending(response.request()));
  await firstView(page).getByRole("textbox").fill("de la bonne personne");
  await page.keyboard.press("Enter");
  expect((await answered).status()).toBe(401);
  expect(await readOwnTexts(site, scene)).toEqual(["bonjour"]);
  await client.setSessionCookies(person);
  release();
  await expect(client.ticks("de la bonne personne", "sent", page)).toBeVisible({ timeout: 30_000 });
  const log = await readServerLog(site, person, conversation);
  const senders = log.filter(({ text }) => text === "de la bonne personne").map(({ sender }) => sender);
  const { body } = await callSite(site, "GET", `/api/groups/${conversation}/members`, { token: person.token });
  expect(senders).toHaveLength(1);
  expect(JSON.stringify(body)).toContain(person.id);
  const numbers = (body as { members: { number: number; profile: { id: string } }[] }).members;
  expect(numbers.find(({ number }) => number === senders[0])?.profile.id).toBe(person.id);
});

test("an early text that may mention a member, and those after it, wait for the app", async ({ browser, server }) => {
  const site = toSite(server);
  const scene = await makeGroupScene(site, 9486);
  const { person, other } = scene;
  const client = await openWarm(browser, server, person);
  const { page } = client;
  const posted = watchPosts(client);
  const release = await holdScripts(client.context);
  await page.goto(scene.path, { waitUntil: "commit" });
  const texts = ["avant", `pour @${other.username}`, "après"];
  for (const text of texts) {
    await firstView(page).getByRole("textbox").fill(text);
    await page.keyboard.press("Enter");
  }
  await expect(firstView(page).getByRole("img", { name: client.texts.chat.status.sent, exact: true })).toHaveCount(1);
  expect(await readOwnTexts(site, scene)).toEqual(["bonjour", "avant"]);
  release();
  await expect(client.ticks("après", "sent", page)).toBeVisible({ timeout: 30_000 });
  expect(await readOwnTexts(site, scene)).toEqual(["bonjour", ...texts]);
  expect(posted).toEqual(["avant"]);
});
