import type { Locator } from "@playwright/test";
import { faultsIn, faultsInBothColours } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  asFingersDo,
  callButton,
  callScreen,
  control,
  expectHearing,
  findBox,
  makeSwitch,
  openCalling,
  patienceMs,
  talk,
} from "#tests/support/browser/calling.ts";
import { fill, type Phone } from "#tests/support/browser/phone.ts";
import { siteOf } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

test.use({ actionTimeout: patienceMs });
const patient = expect.configure({ timeout: patienceMs });

const banner = ({ page, texts }: Phone) => page.getByRole("region", { name: texts.calls.banner, exact: true });

/** Nothing of one lies over the other, and both are to be seen. */
const expectApart = async (one: Locator, other: Locator) => {
  const areApart = async () => {
    const [a, b] = await Promise.all([one, other].map(findBox));
    return a && b && (a.y + a.height <= b.y || b.y + b.height <= a.y);
  };
  await expect.poll(areApart, { timeout: patienceMs }).toBe(true);
};

test("what stands beside a call is in nobody's way: questions, toasts, the way back, the focus, a second caller, the network", async ({
  browser,
  server,
}) => {
  const site = siteOf(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 8_370, "Ana"),
    await makePerson(site, 8_371, "Ben"),
    await makePerson(site, 8_372, "Cléo"),
  ];
  await connectPeople(site, ana, ben);
  await connectPeople(site, ana, cleo);
  const [anas, bens, cleos] = [
    await openCalling(browser, server),
    await openCalling(browser, server),
    await openCalling(browser, server),
  ];
  const cut = await makeSwitch(anas.context);
  await Promise.all([
    anas.signIn(ana, "/app/contacts"),
    bens.signInToChat(ben, ana.id),
    cleos.signInToChat(cleo, ana.id),
  ]);
  const { page, texts } = anas;
  const contacts = page.getByRole("list", { name: texts.contacts.title });
  await contacts.getByRole("link", { name: "Ben" }).first().click();
  await patient(anas.composer()).toBeVisible();

  // She is asked whether she wants to call him at that price, and it is he who calls.
  await page.evaluate(() => localStorage.removeItem("call-price"));
  await callButton(anas, ben).click();
  const price = page.getByRole("alertdialog", { name: fill(texts.calls.price.title.audio, { name: ben.username }) });
  await expect(price).toBeVisible();
  await callButton(bens, ana).click();
  await patient(callScreen(anas, ben).and(page.locator(":has([data-act=accept])"))).toBeVisible();
  await expect(price).toHaveCount(0);

  // Back puts the ring away, and leaves nothing else; the focus is where the call can be taken.
  const address = page.url();
  void page.goBack().catch(() => undefined); // goes nowhere, for which Playwright waits
  await patient(callScreen(anas, ben)).toHaveCount(0);
  expect(page.url()).toBe(address);
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(control(anas, "accept")).toBeFocused();
  await page.keyboard.press("Enter");
  await expectHearing(anas, bens);
  await banner(anas).getByRole("button", { name: texts.calls.restore }).click();
  await control(anas, "minimise").click();
  await expect(banner(anas).getByRole("button", { name: texts.calls.restore })).toBeFocused();

  // A toast lies over neither the bar nor the header.
  await page.getByRole("main").getByRole("button", { name: texts.common.more }).click();
  await page.getByRole("menuitem", { name: texts.mute.on }).click();
  const toast = page.getByRole("status").locator(".rise").first();
  await patient(toast).toBeVisible();
  await expectApart(toast, banner(anas));
  await expectApart(toast, page.getByRole("main").locator("header"));
  await anas.goTo("/app/contacts");
  await patient(callScreen(anas, ben)).toBeVisible(); // loaded anew

  // Somebody else calls: Ana is in a call, and hears of it there.
  await callButton(cleos, ana).click();
  await patient(callScreen(anas, ben).getByText(fill(texts.calls.say.called, { name: "Cléo" }))).toBeVisible();
  expect(await faultsIn(page)).toEqual([]);

  // Without a way to the server they talk on, and are told so.
  await cut(true);
  await patient(callScreen(anas, ben).getByText(texts.calls.notice.away)).toBeVisible();
  await expectHearing(anas, bens);
  await cut(false);
  await patient(callScreen(anas, ben).getByText(texts.calls.notice.away)).toHaveCount(0);

  // Whom she blocks in the middle of it she is not asked about.
  await patient(callScreen(anas, ben).getByRole("timer", { name: texts.calls.time })).toHaveText(
    /^(00:(2[3-9]|[345]\d)|(?!00)\d\d:\d\d)$/,
  );
  await page.keyboard.press("Escape");
  await patient(banner(anas)).toBeVisible();
  await page.evaluate(
    (id) => fetch(`/api/blocks/${id}`, { method: "PUT" }).then(({ ok }) => ok || Promise.reject(new Error("refused"))),
    ben.id,
  );
  const card = (phone: Phone, name: string) =>
    phone.page.getByRole("region", { name: fill(texts.calls.with, { name }) });
  await patient(card(anas, "Ben")).toBeVisible();
  await patient(card(bens, "Ana")).toBeVisible();
  await expect(card(anas, "Ben").getByText(texts.calls.feedback.question)).toHaveCount(0);
  for (const phone of [anas, bens, cleos]) await phone.close();
});

test("a page that was opened and has loaded says nowhere that it loads", async ({ browser, server }) => {
  const site = siteOf(server);
  const [ana, ben] = [await makePerson(site, 8_382, "Ana"), await makePerson(site, 8_383, "Ben")];
  await connectPeople(site, ana, ben);
  const anas = await openCalling(browser, server);
  await anas.signInToChat(ana, ben.id);
  await expect(anas.page.getByText(anas.texts.chat.emptyTitle)).toBeVisible();
  await expect(anas.page.locator("[role=status]").getByText(anas.texts.common.loading)).toHaveCount(0);
  await anas.close();
});

test("where the server cannot be reached the screen of a ring says so", async ({ browser, server }) => {
  const site = siteOf(server);
  const [ana, ben] = [await makePerson(site, 8_375, "Ana"), await makePerson(site, 8_376, "Ben")];
  await connectPeople(site, ana, ben);
  const [anas, bens] = [await openCalling(browser, server), await openCalling(browser, server)];
  const cut = await makeSwitch(bens.context);
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signIn(ben)]);
  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toBeVisible();
  await expect(callScreen(bens, ana).getByText(bens.texts.calls.awayRinging)).toHaveCount(0);
  await cut(true);
  await patient(callScreen(bens, ana).getByText(bens.texts.calls.awayRinging)).toBeVisible();
  expect(await faultsInBothColours(bens.page)).toEqual([]);
  await cut(false);
  await patient(callScreen(bens, ana).getByText(bens.texts.calls.awayRinging)).toHaveCount(0);
  await control(bens, "accept").click();
  await expectHearing(anas, bens);
  for (const phone of [anas, bens]) await phone.close();
});

test("a call whose tab is closed goes on in another tab of the browser, and ends from there", async ({
  browser,
  server,
}) => {
  const site = siteOf(server);
  const [ana, ben] = [await makePerson(site, 8_378, "Ana"), await makePerson(site, 8_379, "Ben")];
  await connectPeople(site, ana, ben);
  const [anas, bens] = [await openCalling(browser, server), await openCalling(browser, server)];
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signIn(ben)]);
  const { texts } = anas;
  const second = await anas.context.newPage();
  await anas.goTo("/app", second);
  const button = (name: string) => second.getByRole("button", { name, exact: true });

  await talk(anas, bens, ben);
  await patient(second.getByText(texts.calls.otherTab, { exact: true })).toBeVisible();
  await expect(second.getByText("Ben", { exact: true }).first()).toBeVisible();
  await expect(button(texts.calls.resume)).toHaveCount(0);
  for (const colorScheme of ["dark", "light"] as const) {
    await second.emulateMedia({ colorScheme });
    expect(await faultsIn(second)).toEqual([]);
  }
  await anas.page.close();
  await button(texts.calls.resume).click();
  await patient(second.getByRole("dialog", { name: "Ben" })).toBeVisible();
  await expectHearing(bens);
  await asFingersDo({ page: second });
  await button(texts.calls.hangUp).click();
  await patient(callScreen(bens, ana)).toHaveCount(0);

  // While it is another tab's it can be ended too.
  const third = await anas.context.newPage();
  await anas.openChat(ben.id, third);
  await callButton(bens, ana)
    .or(bens.page.getByRole("link", { name: "Ana" }).first())
    .first()
    .click();
  await patient(callButton(bens, ana)).toBeEnabled();
  await callButton(bens, ana).click();
  await third.getByRole("button", { name: texts.calls.accept, exact: true }).click();
  await patient(second.getByText(texts.calls.otherTab, { exact: true })).toBeVisible();
  await button(texts.calls.hangUp).click();
  await patient(second.getByText(texts.calls.otherTab, { exact: true })).toHaveCount(0);
  await patient(callScreen(bens, ana)).toHaveCount(0);
  await patient(third.getByRole("button", { name: texts.calls.hangUp, exact: true })).toHaveCount(0);
  for (const phone of [anas, bens]) await phone.close();
});
