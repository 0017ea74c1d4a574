import { callRingMs } from "#contract/limits/calls.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callControl,
  callScreen,
  callTimeoutMs,
  expectHearing,
  openCallClient,
} from "#tests/support/browser/call-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

test("a ring survives a reload of its caller's page, and ends soon after the page is closed for good", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 8_470);
  const [ana, ben] = people;
  const [anas, bens] = [await openCallClient(browser, server), await openCallClient(browser, server)];
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signIn(ben)]);

  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toBeVisible();
  await anas.openChat(ben.id);
  await patient(callScreen(anas, ben)).toBeVisible();
  await callControl(bens, "accept").click();
  await expectHearing(anas, bens);
  await callControl(anas, "hangUp").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);

  await patient(callButton(anas, ben)).toBeEnabled();
  const from = Date.now();
  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toBeVisible();
  await anas.page.close();
  await patient(callScreen(bens, ana)).toHaveCount(0);
  expect(Date.now() - from).toBeLessThan(callRingMs); // before its ring would time out
  for (const phone of [anas, bens]) await phone.close();
});
