import { callRingMs } from "#contract/limits.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callScreen,
  control,
  expectHearing,
  openCalling,
  patienceMs,
} from "#tests/support/browser/calling.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: patienceMs });
const patient = expect.configure({ timeout: patienceMs });

test("a ring outlives that its caller's page is loaded anew, and ends soon when the page is closed for good", async ({
  browser,
  server,
}) => {
  const { people } = await makeCouple(siteOf(server), 8_470);
  const [ana, ben] = people;
  const [anas, bens] = [await openCalling(browser, server), await openCalling(browser, server)];
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signIn(ben)]);

  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toBeVisible();
  await anas.openChat(ben.id);
  await patient(callScreen(anas, ben)).toBeVisible();
  await control(bens, "accept").click();
  await expectHearing(anas, bens);
  await control(anas, "hangUp").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);

  await patient(callButton(anas, ben)).toBeEnabled();
  const from = Date.now();
  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toBeVisible();
  await anas.page.close();
  await patient(callScreen(bens, ana)).toHaveCount(0);
  expect(Date.now() - from).toBeLessThan(callRingMs); // before it would have rung out
  for (const phone of [anas, bens]) await phone.close();
});
