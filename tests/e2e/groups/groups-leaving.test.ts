import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { decodeServerFrame } from "#contract/wire/server-frames.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { fill, TestClient, withholdContent } from "#tests/support/browser/test-client.ts";
import { typeUntil } from "#tests/support/browser/type-until.ts";
import { eventually } from "#tests/support/eventually.ts";
import { eventLine, makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { type Person, signInAgain } from "#tests/support/people/people.ts";
import { readLocalLog, readServerMessages } from "#tests/support/server/logs.ts";

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
  const people = (await makeFriends(site, 630, 6)) as [Person, Person, Person, Person, Person, Person];
  const [ana, ben, cleo, dido, eli, fifi] = people;
  const group = await makeGroup(site, ana, "Chorale", [ben, cleo, dido, eli]);
  await sendTexts(site, ben, group, ["avant 1", "avant 2"]);
  const anas = await TestClient.open(browser, server);
  const bens = await TestClient.open(browser, server);
  const cleos = await TestClient.open(browser, server, "en");
  const didos = await TestClient.open(browser, server);
  const elis = await TestClient.open(browser, server, "pt");
  const fifis = await TestClient.open(browser, server);
  const bensTablet = await TestClient.open(browser, server, "pt");
  const heard = [listen(bens.page), listen(bensTablet.page)];
  // Everything arrives in frames.
  for (const { context } of [bens, bensTablet]) await withholdContent(context);
  const chat = `/app/group/${group}`;
  await Promise.all([
    anas.signIn(ana, `${chat}/members`),
    bens.signIn(ben, chat),
    cleos.signIn(cleo, chat),
    didos.signIn(dido, chat),
    elis.signIn(eli, chat),
    fifis.signIn(fifi),
    signInAgain(site, ben).then((again) => bensTablet.signIn(again)),
  ]);
  for (const phone of [bens, cleos, didos, elis])
    await expect(phone.message("avant 2")).toBeVisible({ timeout: 30_000 });
  await expect(bensTablet.conversation("Chorale")).toBeVisible();
  const { page, texts } = anas;
  const { groups } = texts;
  const headerOf = (phone: TestClient) => phone.page.getByRole("main").locator("header");
  const members = page.getByRole("list", { name: fill(groups.chat.members_other, { count: 5 }) }).getByRole("listitem");

  // A new name and picture, visible to all; a plain member cannot change them.
  await expect(members).toHaveCount(5);
  await expect(members.filter({ hasText: groups.owner })).toContainText(ana.username);
  await page.getByRole("button", { name: groups.rename.action, exact: true }).click();
  const naming = page.getByRole("dialog", { name: groups.rename.action });
  await naming.getByRole("textbox", { name: groups.create.name }).fill("Chorale Sainte-Anne");
  await naming.getByRole("button", { name: groups.rename.submit }).click();
  for (const phone of [bens, cleos, didos, elis]) {
    await expect(headerOf(phone)).toContainText("Chorale Sainte-Anne");
    const values = { name: ana.username, group: "Chorale Sainte-Anne" };
    await expect(eventLine(phone, "renamed", values)).toBeVisible();
  }
  await expect(bensTablet.conversation("Chorale Sainte-Anne")).toBeVisible();
  const picture = await makePicture(page, "chorale.jpg", { width: 400, height: 400, type: "image/jpeg" });
  await page.getByRole("main").locator("input[type=file]").setInputFiles(picture);
  await expect(page.getByRole("status").getByText(groups.picture.done)).toBeVisible();
  for (const phone of [bens, elis]) {
    await expect(eventLine(phone, "pictured", { name: ana.username })).toBeVisible();
    const shown = headerOf(phone).locator("img");
    await expect.poll(() => shown.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);
  }
  await headerOf(elis)
    .getByRole("link", { name: /Chorale/ })
    .click();
  await expect(elis.page.getByRole("button", { name: elis.texts.groups.leave.short, exact: true })).toBeVisible();
  for (const { action } of [elis.texts.groups.rename, elis.texts.groups.add, elis.texts.groups.end]) {
    await expect(elis.page.getByRole("button", { name: action, exact: true })).toHaveCount(0);
  }
  const menusOfOthers = new RegExp(`^${elis.texts.groups.page.memberMenu.split("{")[0]}`);
  await expect(elis.page.getByRole("list").getByRole("button", { name: menusOfOthers })).toHaveCount(0);
  await elis.page.goBack();

  // A sixth member sees messages from then on only: on the screen, in the search and in the received data.
  const add = async ({ username }: Person, choices: number, submit = groups.add.submit_one) => {
    await page.getByRole("button", { name: groups.add.action, exact: true }).click();
    const adding = page.getByRole("dialog", { name: groups.add.title });
    await expect(adding.getByRole("checkbox")).toHaveCount(choices);
    await adding.getByRole("checkbox", { name: username }).check({ force: true });
    await adding.getByRole("button", { name: fill(submit, { count: 1 }) }).click();
    await expect(eventLine(didos, "added", { name: ana.username, who: username })).toBeVisible();
  };
  await add(fifi, 1);
  await expect(fifis.conversation("Chorale Sainte-Anne")).toContainText(
    fill(groups.events.addedMe, { name: ana.username }),
  );
  await fifis.conversation("Chorale Sainte-Anne").click();
  await fifis.write("bonjour à tous");
  await expect(elis.message("bonjour à tous")).toBeVisible();
  await expect(headerOf(bens)).toContainText(fill(groups.chat.members_other, { count: 6 }));
  const joined = 6; // after "created", two texts, the name and the picture
  const history = await readServerMessages(site, fifi, group);
  expect(history.map(({ seq }) => seq)).toEqual([joined, joined + 1]);
  const seqsOf = async ({ page }: TestClient) => (await readLocalLog(page, group)).map(({ seq }) => seq);
  await expect.poll(() => seqsOf(fifis)).toEqual([joined, joined + 1]);
  await fifis.page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await fifis.page.getByRole("menuitem", { name: texts.chat.search, exact: true }).click();
  await fifis.page.getByRole("searchbox").fill("avant");
  await expect(fifis.page.getByText(texts.chat.noneTitle)).toBeVisible();
  await fifis.page.getByRole("button", { name: texts.chat.closeSearch }).click();

  // Ben is removed: one device has the chat open, the other the list.
  await elis.write("avant le départ");
  for (const phone of [bens, bensTablet]) {
    await expect.poll(async () => (await readLocalLog(phone.page, group)).length).toBeGreaterThan(0);
  }
  const rows = heard.flat().flatMap((frame) => ("type" in frame && frame.type === "welcome" ? frame.rows : []));
  const handle = rows.find(({ conversation }) => conversation === group)?.handle;
  if (handle === undefined) throw new Error("Ben's devices were told of no group");
  for (const frames of heard) expect(frames.flatMap(handlesIn)).toContain(handle);
  const remove = async ({ username }: Person): Promise<number> => {
    await page.getByRole("button", { name: fill(groups.page.memberMenu, { name: username }) }).click();
    await page.getByRole("menuitem", { name: groups.remove.action }).click();
    const question = page.getByRole("alertdialog", { name: fill(groups.remove.title, { name: username }) });
    const done = page.waitForResponse((response) => response.request().method() === "DELETE" && response.ok());
    await question.getByRole("button", { name: groups.remove.confirm }).click();
    await done;
    return Date.now();
  };
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
  const removedAt = await remove(ben);
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
  await expect(eventLine(didos, "removed", { name: ana.username, who: ben.username })).toBeVisible();

  // The others continue, and Ben receives nothing of the group before the next frame for him.
  const before = heard.map((frames) => frames.length);
  await elis.write("sans Ben");
  const isTyping = fill(elis.texts.chat.isTyping, { name: dido.username });
  await typeUntil(didos, expect(headerOf(elis)).toContainText(isTyping));
  await didos.write("moi aussi, sans lui");
  await expect(elis.ticks("sans Ben", "delivered")).toBeVisible();
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["entre nous"]);
  for (const phone of [bens, bensTablet]) await expect(phone.conversation(ana.username)).toContainText("entre nous");
  heard.forEach((frames, i) => {
    const since = frames.slice(before[i]);
    expect(since.length).toBeGreaterThan(0);
    expect(since.flatMap(handlesIn)).not.toContain(handle);
    expect(JSON.stringify(since)).not.toContain("sans");
  });
  await bensTablet.goTo(chat);
  await expect(bensTablet.page.getByText(bensTablet.texts.groups.chat.notMember)).toBeVisible();
  for (const phone of [bens, bensTablet])
    expect(JSON.stringify(await readLocalLog(phone.page, group))).not.toContain("sans");

  // Cleo wrote offline and is removed meanwhile: her message stays readable for her, and is never sent.
  await cleos.context.setOffline(true);
  await cleos.write("too late");
  await remove(cleo);
  await cleos.context.setOffline(false);
  await expect(cleos.page.getByText(cleos.texts.groups.chat.leftNote)).toBeVisible();
  await expect(cleos.ticks("too late", "failed")).toBeVisible();
  await expect(cleos.message("avant 2")).toBeVisible();
  await expect(cleos.composer()).toHaveCount(0);
  await cleos.page.reload();
  await cleos.message("too late").getByRole("button", { name: cleos.texts.chat.discard }).click();
  await cleos.confirmDeletion();
  await expect(cleos.page.getByText(cleos.texts.groups.chat.notMember, { exact: true })).toBeVisible();

  // Ben is added again and sees messages from then on, and those he had.
  await add(ben, 2, groups.add.submitOrInvite_one); // Cleo could come back too
  for (const phone of [bens, bensTablet])
    await expect(eventLine(phone, "addedMe", { name: ana.username })).toBeVisible();
  await bens.write("me revoilà");
  for (const phone of [bensTablet, didos, elis, fifis]) await expect(phone.message("me revoilà")).toBeVisible();
  for (const phone of [bens, bensTablet]) {
    const textsOf = async () => (await readLocalLog(phone.page, group)).map(({ text }) => text);
    await expect.poll(async () => (await textsOf()).slice(-3)).toEqual(["<event>", "<event>", "me revoilà"]);
    expect(await textsOf()).not.toContain("sans Ben");
  }

  for (const phone of [anas, bens, cleos, didos, elis, fifis, bensTablet]) await phone.close();
});
