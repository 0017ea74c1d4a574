import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { decodeServerFrame } from "#contract/wire/server-frames.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, onePixelPng, TestClient, withholdContent } from "#tests/support/browser/test-client.ts";
import { eventually } from "#tests/support/eventually.ts";
import { eventLine, makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person, signInAgain } from "#tests/support/people/people.ts";
import { readLocalLog } from "#tests/support/server/logs.ts";

const removalMs = 2_000; // the promised limit

type Frame = NonNullable<ReturnType<typeof decodeServerFrame>>;

/** Frames that this page's socket receives from now on, without pongs. */
const listen = (page: Page): Frame[] => {
  const heard: Frame[] = [];
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => {
      const frame = decodeServerFrame(String(payload));
      if (frame) heard.push(frame);
    });
  });
  return heard;
};

/** Handles named by a frame; a row names its own. */
const handlesIn = (frame: Frame): number[] => {
  if ("event" in frame) return [];
  if (frame.type === "row") return [frame.row.handle];
  return "target" in frame ? [frame.target] : [];
};

test("members come and go: a removed member knows it at once and receives nothing more, and the group continues", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, eli, fifi] = (await makeFriends(site, 630, 4)) as [Person, Person, Person, Person];
  const group = await makeGroup(site, ana, "Chorale", [ben, eli]);
  await sendTexts(site, ben, group, ["avant 1", "avant 2"]);
  const bens = await TestClient.open(browser, server);
  const bensTablet = await TestClient.open(browser, server, "pt");
  const fifis = await TestClient.open(browser, server);
  const heard = [listen(bens.page), listen(bensTablet.page)];
  // Everything arrives in frames.
  for (const { context } of [bens, bensTablet]) await withholdContent(context);
  const chat = `/app/group/${group}`;
  await Promise.all([
    bens.signIn(ben, chat),
    signInAgain(site, ben).then((again) => bensTablet.signIn(again)),
    fifis.signIn(fifi),
  ]);
  await expect(bens.message("avant 2")).toBeVisible({ timeout: 30_000 });
  await expect(bensTablet.conversation("Chorale")).toBeVisible();
  const { texts } = fifis;
  const { groups } = texts;
  const header = bens.page.getByRole("main").locator("header");
  const change = async (method: "PATCH" | "POST" | "DELETE", path: string, body?: object): Promise<void> => {
    const call = { token: ana.token, ...(body && { body }) };
    expect((await callSite(site, method, `/api/groups/${group}${path}`, call)).status).toBeLessThan(300);
  };

  // A new name and picture, visible on all devices.
  await change("PATCH", "", { name: "Chorale Sainte-Anne" });
  await expect(header).toContainText("Chorale Sainte-Anne");
  await expect(eventLine(bens, "renamed", { name: ana.username, group: "Chorale Sainte-Anne" })).toBeVisible();
  await expect(bensTablet.conversation("Chorale Sainte-Anne")).toBeVisible();
  const pictured = await fetch(`${site.origin}/api/groups/${group}/picture`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ana.token}`, "content-type": "image/png" },
    body: onePixelPng,
  });
  expect(pictured.status).toBe(200);
  await expect(eventLine(bens, "pictured", { name: ana.username })).toBeVisible();
  const shown = header.locator("img");
  await expect.poll(() => shown.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);

  // A fourth member sees messages from then on only: on the screen, in the search and in the received data.
  await change("POST", "/members", { members: [fifi.id] });
  await expect(eventLine(bens, "added", { name: ana.username, who: fifi.username })).toBeVisible();
  await expect(fifis.conversation("Chorale Sainte-Anne")).toContainText(
    fill(groups.events.addedMe, { name: ana.username }),
  );
  await fifis.conversation("Chorale Sainte-Anne").click();
  await fifis.write("bonjour à tous");
  await expect(bens.message("bonjour à tous")).toBeVisible();
  await expect(header).toContainText(fill(groups.chat.members_other, { count: 4 }));
  const joined = 6; // after "created", two texts, the name and the picture
  const seqsOf = async ({ page }: TestClient) => (await readLocalLog(page, group)).map(({ seq }) => seq);
  await expect.poll(() => seqsOf(fifis)).toEqual([joined, joined + 1]);
  await fifis.page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await fifis.page.getByRole("menuitem", { name: texts.chat.search, exact: true }).click();
  await fifis.page.getByRole("searchbox").fill("avant");
  await expect(fifis.page.getByText(texts.chat.noneTitle)).toBeVisible();
  await fifis.page.getByRole("button", { name: texts.chat.closeSearch }).click();

  // Ben is removed: one device has the chat open, the other the list.
  await sendTexts(site, eli, group, ["avant le départ"]);
  for (const phone of [bens, bensTablet]) {
    await expect.poll(async () => (await readLocalLog(phone.page, group)).length).toBeGreaterThan(0);
  }
  const rows = heard.flat().flatMap((frame) => ("type" in frame && frame.type === "welcome" ? frame.rows : []));
  const handle = rows.find(({ conversation }) => conversation === group)?.handle;
  if (handle === undefined) throw new Error("Ben's devices were told of no group");
  for (const frames of heard) expect(frames.flatMap(handlesIn)).toContain(handle);
  await expect(bensTablet.conversation("Chorale Sainte-Anne")).toBeVisible();
  // Each page records when it lost the group, because the test may check later.
  const lostTexts = [groups.chat.notMember, fill(bensTablet.texts.groups.events.removedMe, { name: ana.username })];
  const lost = [bens, bensTablet].map(({ page }, index) =>
    page.waitForFunction((text = "") => document.body.textContent.includes(text) && Date.now(), lostTexts[index]),
  );
  let isLost = false;
  void Promise.all(lost).then(
    () => {
      isLost = true;
    },
    () => undefined,
  );
  await change("DELETE", `/members/${ben.id}`);
  const removedAt = Date.now();
  // Within the turns of page and server meanwhile: a busy machine has few.
  await eventually(async () => {
    const turns = [bens.page, bensTablet.page].map((page) => page.evaluate(() => undefined));
    await Promise.all([...turns, fetch(`${site.origin}/api/health`)]);
    expect(isLost).toBe(true);
  }, removalMs);
  await expect(bens.composer()).toHaveCount(0);
  const lostAt = await Promise.all(lost.map(async (when) => Number(await (await when).jsonValue())));
  const lostAfterMs = Math.max(...lostAt) - removedAt;
  test.info().annotations.push({ type: "measured", description: `both devices had lost it after ${lostAfterMs} ms` });
  await expect(eventLine(fifis, "removed", { name: ana.username, who: ben.username })).toBeVisible();

  // The others continue, and Ben receives nothing of the group before the next frame for him.
  const before = heard.map((frames) => frames.length);
  await sendTexts(site, eli, group, ["sans Ben"]);
  await expect(fifis.message("sans Ben")).toBeVisible();
  await fifis.composer().pressSequentially("moi aussi, "); // others see that she types
  await fifis.write("moi aussi, sans lui");
  await expect(fifis.ticks("moi aussi, sans lui", "sent")).toBeVisible();
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["entre nous"]);
  for (const phone of [bens, bensTablet]) await expect(phone.conversation(ana.username)).toContainText("entre nous");
  heard.forEach((frames, i) => {
    const since = frames.slice(before[i]);
    expect(since.length).toBeGreaterThan(0);
    expect(since.flatMap(handlesIn)).not.toContain(handle);
    expect(JSON.stringify(since)).not.toContain("sans");
  });
  await bensTablet.openRoute(chat);
  await expect(bensTablet.page.getByText(bensTablet.texts.groups.chat.notMember)).toBeVisible();
  for (const phone of [bens, bensTablet])
    expect(JSON.stringify(await readLocalLog(phone.page, group))).not.toContain("sans");

  // Ben is added again and sees messages from then on, and those he had.
  await change("POST", "/members", { members: [ben.id] });
  for (const phone of [bens, bensTablet])
    await expect(eventLine(phone, "addedMe", { name: ana.username })).toBeVisible();
  await bens.write("me revoilà");
  for (const phone of [bensTablet, fifis]) await expect(phone.message("me revoilà")).toBeVisible();
  for (const phone of [bens, bensTablet]) {
    const textsOf = async () => (await readLocalLog(phone.page, group)).map(({ text }) => text);
    await expect.poll(async () => (await textsOf()).slice(-3)).toEqual(["<event>", "<event>", "me revoilà"]);
    expect(await textsOf()).not.toContain("sans Ben");
  }

  for (const phone of [bens, bensTablet, fifis]) await phone.close();
});
