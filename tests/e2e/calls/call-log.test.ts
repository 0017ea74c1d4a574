import { createUuid, type Uuid } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { callBackButton, callEntry } from "#tests/support/browser/call-client.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person } from "#tests/support/people/people.ts";

const minOutcomePx = 150; // room of a few words in letters twice as large

type How = "missed" | "rejected" | "busy" | "ended";

test("call entries are on the caller's side in each person's language, call back, and can be answered by a voice message", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 8_100);
  const [ana, ben] = people;
  const devices = new Map(people.map(({ id }) => [id, createUuid()]));
  const post = async (sender: Person, path: string, body: object) => {
    const answer = await callSite(site, "POST", path, {
      token: sender.token,
      body: { conversation, device: devices.get(sender.id), ...body },
    });
    expect(answer.status, path).toBe(200);
  };
  const call = async (from: Person, to: Person, type: "audio" | "video", how: How): Promise<Uuid> => {
    const id = createUuid();
    await post(from, "/api/calls", { call_id: id, type });
    if (how === "ended") await post(to, `/api/calls/${id}/answer`, {});
    const status = how === "busy" ? { status: "missed", reason: "busy" } : { status: how };
    await post(how === "missed" || how === "ended" ? from : to, `/api/calls/${id}/end`, status);
    return id;
  };
  await call(ana, ben, "audio", "ended");
  await call(ana, ben, "video", "rejected");
  await call(ben, ana, "audio", "busy");
  await call(ben, ana, "video", "missed");

  const anas = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, permissions: ["microphone", "camera"] }),
    server,
  );
  const bens = await TestClient.open(browser, server, "en");
  const { page, texts } = anas;

  // The list shows it in red and counts missed calls.
  await anas.signIn(ana);
  const row = anas.conversation(ben.username);
  await expect(row).toContainText("Appel vidéo manqué");
  await expect(row).toContainText(fill(texts.masolo.unread_other, { count: 2 }));
  await expect(row.locator(".text-danger")).toContainText("Appel vidéo manqué");
  await row.click();
  const main = page.getByRole("main");
  const line = (words: string) => callEntry(anas, words);
  await expect(line("Vous : Appel audio terminé")).toBeVisible();
  await expect(line(`Vous : Appel vidéo refusé par ${ben.username}`)).toBeVisible();
  await expect(line(`${ben.username} : Appel audio manqué`)).toBeVisible();
  await expect(line(`${ben.username} : Appel vidéo manqué`)).toBeVisible();
  await expect(main.getByRole("listitem").getByRole("img")).toHaveCount(0); // nobody sent anything
  expect(await findAxeViolations(page)).toEqual([]);

  await bens.signIn(ben, `/app/chat/${ana.id}`);
  const bensEntry = (words: string) => callEntry(bens, words);
  await expect(bensEntry(`${ana.username}: Audio call ended`)).toBeVisible();
  await expect(bensEntry(`${ana.username}: Declined video call`)).toBeVisible();
  await expect(bensEntry("You: Audio call: busy")).toBeVisible();
  await expect(bensEntry("You: Cancelled video call")).toBeVisible();

  // Its menu offers to call back, to send a voice message or to reply; it has no copy, forward or delete.
  await line(`${ben.username} : Appel audio manqué`).click({ button: "right" });
  const menuTexts = [texts.callLines.callBack, texts.callLines.speak, texts.messages.reply];
  await expect(page.getByRole("menuitem")).toHaveText(menuTexts);
  await page.keyboard.press("Escape");
  await main.getByRole("button", { name: texts.callLines.speak }).last().click();
  await expect(page.getByRole("timer")).toBeVisible();
  await expect(main.getByRole("button", { name: texts.chat.voice.send })).toBeFocused();
  await main.getByRole("button", { name: texts.chat.voice.discard }).click();

  // A touch of the entry, where a thumb scrolls, calls nobody; its handset button does, with the same kind. A cancelled
  // call has an entry too.
  const missed = line(`${ben.username} : Appel audio manqué`);
  await missed.getByText("Appel audio manqué").click();
  await missed.getByRole("time").click();
  await expect(page.getByRole("button", { name: texts.calls.hangUp })).toHaveCount(0);
  await expect(missed.getByRole("button")).toHaveCount(2);
  const handset = callBackButton(missed, anas, ben.username);
  expect(await handset.boundingBox()).toMatchObject({ width: 48, height: 48 });
  await handset.press("Enter");
  await page.getByRole("button", { name: texts.calls.hangUp }).click();
  await expect(line("Vous : Appel audio annulé")).toBeVisible();
  await expect(bensEntry(`${ana.username}: Missed audio call`)).toBeVisible();

  // Makutano lists them above the contacts, the newest first; a tap opens the chat.
  await anas.openRoute("/app/makutano");
  const recent = page.getByRole("list", { name: texts.makutano.recent }).getByRole("listitem");
  await expect(recent).toHaveCount(5);
  await expect(recent.first()).toContainText("Appel audio annulé");
  await expect(recent.nth(1)).toContainText("Appel vidéo manqué");
  await expect(recent.nth(1).locator("bdi.text-danger")).toHaveText(ben.username);
  await expect(recent.nth(1).getByRole("button")).toHaveCount(1);
  await expect(recent.last()).toContainText("Appel audio terminé");
  expect(await findAxeViolations(page)).toEqual([]);
  await recent.nth(1).getByRole("link").click();
  await expect(page).toHaveURL(new RegExp(`/app/chat/${ben.id}$`));
  await bens.openRoute("/app/makutano");
  const bensRecent = bens.page.getByRole("list", { name: bens.texts.makutano.recent }).getByRole("listitem");
  await expect(bensRecent.first()).toContainText("Missed audio call");
  await bensRecent.first().getByRole("link").click();

  // Makutano in letters twice as large: search for a person, nothing is cut, and an audio call.
  await anas.switchLanguage("pt");
  const recentInPortuguese = page.getByRole("list", { name: anas.texts.makutano.recent }).getByRole("listitem").first();
  await anas.goTo("/app/makutano");
  await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
  const outcome = recentInPortuguese.getByText(anas.texts.callLines.outcomes.audio.cancelled, { exact: true });
  expect((await outcome.boundingBox())?.width).toBeGreaterThan(minOutcomePx);
  const search = page.getByRole("searchbox", { name: anas.texts.contacts.searchLabel });
  await search.fill("personne zzz");
  await expect(page.getByText(anas.texts.contacts.noMatch.title)).toBeVisible();
  await search.fill(ben.phone.slice(-6));
  const contact = page.getByRole("list", { name: anas.texts.makutano.title }).getByRole("listitem");
  await expect(contact).toHaveCount(1);
  const cut = contact
    .locator("bdi")
    .evaluateAll((all) =>
      all
        .filter(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
          [scrollWidth - clientWidth, scrollHeight - clientHeight].some((more) => more > 1),
        )
        .map(({ textContent }) => textContent),
    );
  expect(await cut).toEqual([]);
  expect(await findAxeViolations(page)).toEqual([]);
  await contact.getByRole("button", { name: fill(anas.texts.people.audioCallName, { name: ben.username }) }).click();
  await page.getByRole("button", { name: anas.texts.calls.hangUp }).click();
  await expect(bensEntry(`${ana.username}: Missed audio call`)).toHaveCount(2);

  // Without contacts the calls are listed all the same.
  await callSite(site, "DELETE", `/api/contacts/${ben.id}`, { token: ana.token });
  await anas.goTo("/app/makutano");
  await expect(page.getByText(anas.texts.contacts.none.title)).toBeVisible();
  const { makutano, callLines } = anas.texts;
  const calls = page.getByRole("list", { name: makutano.recent }).getByRole("listitem");
  await expect(calls).toHaveCount(5);
  await expect(calls.first()).toContainText(callLines.outcomes.audio.cancelled);
  for (const phone of [anas, bens]) await phone.close();
});
