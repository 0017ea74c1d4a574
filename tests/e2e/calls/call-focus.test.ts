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
import type { TestClient } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

const banner = ({ page, texts }: TestClient) => page.getByRole("region", { name: texts.calls.banner, exact: true });

test("a ring does not cover the text field in use, nor interrupt a held voice recording, and lasts as long as its caller's page", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 8_350);
  const [ana, ben] = people;
  const anas = await openCallClient(browser, server);
  const bens = await openCallClient(browser, server);
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  const { page, texts } = anas;
  const { ringingAudio } = texts.calls.status;

  // She began a text long ago and sits in front of it: nothing was typed since the page was loaded.
  await anas.composer().fill("Je pense à");
  await anas.openChat(ben.id);
  await expect(anas.composer()).toHaveValue("Je pense à");
  await anas.composer().focus();
  await callButton(bens, ana).click();
  await patient(banner(anas).getByRole("alert")).toContainText(ringingAudio);
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await expect(anas.composer()).toBeFocused();
  await callControl(anas, "decline").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);
  await expect(anas.composer()).toHaveValue("Je pense à");

  // Without a draft the ringing screen gets the focus.
  await anas.composer().fill("");
  await anas.openChat(ben.id);
  await anas.composer().focus();
  await callButton(bens, ana).click();
  await patient(callScreen(anas, ben)).toContainText(ringingAudio);
  await callControl(anas, "decline").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);

  // Her finger is on the microphone: she keeps recording, and the recording is sent on release.
  const timer = page.locator("form [role=timer]");
  await page.getByRole("button", { name: texts.chat.voice.record }).hover();
  await page.mouse.down();
  await patient(timer).toHaveText(/:(?!00)\d\d$/);
  await callButton(bens, ana).click();
  await patient(banner(anas).getByRole("alert")).toContainText(ringingAudio);
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await patient(timer).not.toHaveText((await timer.textContent()) ?? "");
  await page.mouse.up();
  await patient(timer).toHaveCount(0);
  await expect(banner(anas)).toBeVisible();
  await callControl(bens, "hangUp").click();
  await patient(banner(anas)).toHaveCount(0);
  await patient(bens.page.getByRole("button", { name: new RegExp(`^${texts.messages.playVoice}`) })).toHaveCount(1);

  // A ring survives a reload of its caller's page.
  const accept = callControl(anas, "accept");
  await callButton(bens, ana).click();
  await patient(accept).toBeVisible();
  await bens.openChat(ana.id);
  await patient(callScreen(bens, ana)).toBeVisible();
  await accept.click();
  await expectHearing(anas, bens);
  await callControl(bens, "hangUp").click();
  await patient(callScreen(anas, ben)).toHaveCount(0);

  // It ends soon after the page is closed for good.
  await patient(callButton(bens, ana)).toBeEnabled();
  const from = Date.now();
  await callButton(bens, ana).click();
  await patient(accept).toBeVisible();
  await bens.page.close();
  await patient(accept).toHaveCount(0);
  expect(Date.now() - from).toBeLessThan(callRingMs); // before its ring would time out
  for (const phone of [anas, bens]) await phone.close();
});
