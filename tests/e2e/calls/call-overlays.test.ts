import type { Locator } from "@playwright/test";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { findAxeViolations, findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callControl,
  callScreen,
  callTimeoutMs,
  expectHearing,
  findBox,
  makeNetworkSwitch,
  openCallClient,
} from "#tests/support/browser/call-client.ts";
import { fill, findToast, type TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

const banner = ({ page, texts }: TestClient) => page.getByRole("region", { name: texts.calls.banner, exact: true });

/** Checks that no element covers another, and that all are visible. */
const expectApart = async (one: Locator, other: Locator) => {
  const areApart = async () => {
    const [a, b] = await Promise.all([one, other].map(findBox));
    return a && b && (a.y + a.height <= b.y || b.y + b.height <= a.y);
  };
  await expect.poll(areApart, { timeout: callTimeoutMs }).toBe(true);
};

test("elements next to a call block nothing: questions, toasts, the network, the back button, the focus, a second caller", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 8_370, "Ana"),
    await makePerson(site, 8_371, "Ben"),
    await makePerson(site, 8_372, "Cléo"),
  ];
  await connectPeople(site, ana, ben);
  await connectPeople(site, ana, cleo);
  const [anas, bens] = [await openCallClient(browser, server), await openCallClient(browser, server)];
  const cut = await makeNetworkSwitch(anas.context);
  await Promise.all([anas.signIn(ana, "/app/contacts"), bens.signInToChat(ben, ana.id)]);
  const { page, texts } = anas;
  const contacts = page.getByRole("list", { name: texts.contacts.title });
  await contacts.getByRole("link", { name: "Ben" }).first().click();
  await patient(anas.composer()).toBeVisible();

  // A page that finished loading shows no loading indicator.
  await expect(bens.page.getByText(bens.texts.chat.emptyTitle)).toBeVisible();
  await expect(bens.page.locator("[role=status]").getByText(bens.texts.common.loading)).toHaveCount(0);

  // She is asked whether she accepts the price, and he calls meanwhile.
  await page.evaluate(() => localStorage.removeItem("call-price"));
  await callButton(anas, ben).click();
  const price = page.getByRole("alertdialog", { name: fill(texts.calls.price.title.audio, { name: ben.username }) });
  await expect(price).toBeVisible();
  await callButton(bens, ana).click();
  await patient(callScreen(anas, ben).and(page.locator(":has([data-act=accept])"))).toBeVisible();
  await expect(price).toHaveCount(0);

  // Without a connection to the server the screen of the ringing call says so.
  const awayRinging = callScreen(anas, ben).getByText(texts.calls.awayRinging);
  await expect(awayRinging).toHaveCount(0);
  await cut(true);
  await patient(awayRinging).toBeVisible();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  await cut(false);
  await patient(awayRinging).toHaveCount(0);

  // Back closes the ring only; the focus is where the call can be answered.
  const address = page.url();
  void page.goBack().catch(() => undefined); // does not navigate, which Playwright would wait for
  await patient(callScreen(anas, ben)).toHaveCount(0);
  expect(page.url()).toBe(address);
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(callControl(anas, "accept")).toBeFocused();
  await page.keyboard.press("Enter");
  await expectHearing(anas, bens);
  await banner(anas).getByRole("button", { name: texts.calls.restore }).click();
  await callControl(anas, "minimise").click();
  await expect(banner(anas).getByRole("button", { name: texts.calls.restore })).toBeFocused();

  // A toast covers neither the bar nor the header.
  await page.route("**/api/mutes/*", (route) => route.abort());
  await page.getByRole("main").getByRole("button", { name: texts.common.more }).click();
  await page.getByRole("menuitem", { name: texts.mute.on }).click();
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  const toast = findToast(page);
  await patient(toast).toBeVisible();
  await expectApart(toast, banner(anas));
  await expectApart(toast, page.getByRole("main").locator("header"));
  await anas.openRoute("/app/contacts");
  await banner(anas).getByRole("button", { name: texts.calls.restore }).click();
  await patient(callScreen(anas, ben)).toBeVisible();

  // Another person calls: Ana is in a call and is notified there.
  const conversation = privateConversationId(cleo.id, ana.id);
  const body = { conversation, device: createUuid(), call_id: createUuid(), type: "audio" };
  const isNotified = callScreen(anas, ben).getByText(fill(texts.calls.say.called, { name: "Cléo" }));
  await Promise.all([
    patient(isNotified).toBeVisible(),
    callSite(site, "POST", "/api/calls", { token: cleo.token, body }),
  ]);
  await expect(callScreen(anas, cleo)).toHaveCount(0);
  expect(await findAxeViolations(page)).toEqual([]);

  // Without a connection to the server the call continues, and both are told so.
  await cut(true);
  await patient(callScreen(anas, ben).getByText(texts.calls.notice.away)).toBeVisible();
  await expectHearing(anas, bens);
  await cut(false);
  await patient(callScreen(anas, ben).getByText(texts.calls.notice.away)).toHaveCount(0);

  // No feedback is requested about a person she blocks during the call.
  await patient(callScreen(anas, ben).getByRole("timer", { name: texts.calls.time })).toHaveText(
    /^(00:(2[3-9]|[345]\d)|(?!00)\d\d:\d\d)$/,
  );
  await page.keyboard.press("Escape");
  await patient(banner(anas)).toBeVisible();
  await page.evaluate(
    (id) => fetch(`/api/blocks/${id}`, { method: "PUT" }).then(({ ok }) => ok || Promise.reject(new Error("refused"))),
    ben.id,
  );
  const card = (phone: TestClient, name: string) =>
    phone.page.getByRole("region", { name: fill(texts.calls.with, { name }) });
  await patient(card(anas, "Ben")).toBeVisible();
  await patient(card(bens, "Ana")).toBeVisible();
  await expect(card(anas, "Ben").getByText(texts.calls.feedback.question)).toHaveCount(0);
  await expectApart(card(anas, "Ben"), page.getByRole("main"));
  for (const phone of [anas, bens]) await phone.close();
});
