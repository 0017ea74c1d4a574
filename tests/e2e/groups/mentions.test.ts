import { createUuid } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const findMessage = ({ page }: TestClient, text: string) =>
  page.getByRole("main").getByRole("listitem").filter({ hasText: text });

test("a member is mentioned from a list by keyboard and touch, finds the mentions of a long absence one by one, and keeps them audible in a muted group", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9350, "Ana Mbuyi");
  const ben = await makePerson(site, 9351, "Benoît Élie");
  const cleo = await makePerson(site, 9352, "Cléo");
  for (const one of [ben, cleo]) await connectPeople(site, ana, one);
  const id = await makeGroup(site, ana, "Famille", [ben, cleo]);
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await anas.signIn(ana, `/app/group/${id}`);
  const composer = anas.composer();
  const list = page.getByRole("listbox", { name: texts.chat.mention.list });

  // A text that is sent before this device has the member list.
  await composer.fill("@Cléo d’abord");
  await composer.press("Enter");
  await expect(findMessage(anas, "d’abord").getByRole("link")).toHaveText("@Cléo");

  // A later word of a name, without accents; the arrow keys choose, and Enter does not send.
  await composer.fill("Mbote @");
  await expect(list.getByRole("option")).toHaveText([/^@?tous/, /Benoît Élie/, /Cléo/]);
  await expect(composer).toHaveAttribute("aria-controls", (await list.getAttribute("id")) ?? "");
  expect(await findAxeViolations(page)).toEqual([]);
  await composer.press("ArrowDown");
  await composer.press("ArrowDown");
  await expect(list.getByRole("option", { name: "Cléo" })).toHaveAttribute("aria-selected", "true");
  await composer.pressSequentially("eli");
  await expect(list.getByRole("option")).toHaveText([/Benoît Élie/]);
  await composer.press("Enter");
  await expect(composer).toHaveValue("Mbote @Benoît Élie ");
  await expect(list).toHaveCount(0);
  // A reload keeps the draft and its mention; Escape closes the list, and Enter sends then.
  await anas.switchLanguage("pt");
  await page.reload();
  const field = anas.composer();
  const members = page.getByRole("listbox", { name: anas.texts.chat.mention.list });
  await expect(field).toHaveValue("Mbote @Benoît Élie ");
  await field.press("Control+End"); // the draft may have been filled in around the caret
  await field.pressSequentially("et @t");
  await expect(members.getByRole("option")).toHaveText([/^@?todos/]);
  await field.press("Escape");
  await expect(members).toHaveCount(0);
  for (let typed = 0; typed < 2; typed++) await field.press("Backspace");
  await field.pressSequentially("@cl");
  await members.getByRole("option", { name: "Cléo" }).click();
  await expect(field).toBeFocused();
  await field.press("Enter");
  const link = findMessage(anas, "Mbote").getByRole("link");
  await expect(link).toHaveText(["@Benoît Élie", "@Cléo"]);

  // Many messages later there are two mentions of Ben, of which the first is not loaded with the chat.
  const mention = async () => {
    const body = { type: "text", text: "@Benoît Élie réponds", mentions: [[0, 12, 1]] };
    const messages = [{ cid: createUuid(), body }];
    const sent = await callSite(site, "POST", `/api/conversations/${id}/messages`, {
      token: cleo.token,
      body: { messages },
    });
    expect(sent.status).toBe(200);
  };
  await sendTexts(
    site,
    cleo,
    id,
    Array.from({ length: 45 }, (_, n) => `ligne ${n}`),
  );
  await mention();
  await sendTexts(
    site,
    cleo,
    id,
    Array.from({ length: 40 }, (_, n) => `suite ${n}`),
  );
  const bens = await TestClient.open(browser, server, "en");
  await bens.signIn(ben);
  const { chat, masolo, mute } = bens.texts;
  await expect(bens.conversation("Famille")).toContainText(fill(masolo.mentions_other, { count: "2" }));
  await bens.conversation("Famille").click();
  await expect(bens.message("suite 39")).toBeVisible();
  const next = (count: number) =>
    bens.page.getByRole("button", {
      name: fill(count === 1 ? chat.mention.next_one : chat.mention.next_other, { count: `${count}` }),
    });
  await next(2).click();
  await expect(findMessage(bens, "Mbote")).toBeInViewport();
  await next(1).click();
  await expect(findMessage(bens, "réponds")).toBeInViewport();
  await expect(next(1)).toHaveCount(0);
  await bens.composer().pressSequentially("Yes @c");
  const choices = bens.page.getByRole("listbox", { name: chat.mention.list }).getByRole("option");
  await expect(choices).toHaveText([/Cléo/]);
  await bens.composer().press("Enter");
  await bens.composer().press("Enter");
  await expect(findMessage(anas, "Yes").getByRole("link")).toHaveText("@Cléo");

  // Muted except mentions: the list says so, and the badge of a mention stays loud.
  await bens.openRoute("/app");
  await bens.conversation("Famille").click({ button: "right" });
  await bens.page.getByRole("menuitem", { name: mute.on }).click();
  await bens.page.getByRole("switch", { name: mute.keepMentions }).click();
  await bens.page.getByRole("button", { name: mute.for.always }).click();
  await expect(
    bens.conversation("Famille").getByRole("img", { name: `${mute.isOn} (${mute.exceptMentions})` }),
  ).toBeVisible();
  await bens.conversation("Famille").click({ button: "right" });
  await bens.page.getByRole("menuitem", { name: mute.change }).click();
  await expect(bens.page.getByRole("switch", { name: mute.keepMentions })).toBeChecked();
  await bens.page.getByRole("button", { name: bens.texts.common.cancel }).click();
  await mention();
  await expect(bens.conversation("Famille")).toContainText(fill(masolo.mentions_one, { count: "1" }));
});
