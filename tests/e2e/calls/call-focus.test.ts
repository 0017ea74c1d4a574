import { expect, test } from "#tests/support/browser/browser-test.ts";
import { callButton, callScreen, control, openCalling, patienceMs } from "#tests/support/browser/calling.ts";
import type { Phone } from "#tests/support/browser/phone.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: patienceMs });
const patient = expect.configure({ timeout: patienceMs });

const banner = ({ page, texts }: Phone) => page.getByRole("region", { name: texts.calls.banner, exact: true });

test("a ring does not cover what somebody is about to write, nor takes the finger from a voice message", async ({
  browser,
  server,
}) => {
  const { people } = await makeCouple(siteOf(server), 8_350);
  const [ana, ben] = people;
  const anas = await openCalling(browser, server);
  const bens = await openCalling(browser, server);
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  const { page, texts } = anas;
  const { ringingAudio } = texts.calls.status;

  // Begun long ago, and she sits before it: no letter came since the page was loaded.
  await anas.composer().fill("Je pense à");
  await anas.openChat(ben.id);
  await expect(anas.composer()).toHaveValue("Je pense à");
  await anas.composer().focus();
  await callButton(bens, ana).click();
  await patient(banner(anas).getByRole("alert")).toContainText(ringingAudio);
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await expect(anas.composer()).toBeFocused();
  await control(anas, "decline").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);
  await expect(anas.composer()).toHaveValue("Je pense à");

  // With nothing begun it is the screen that rings.
  await anas.composer().fill("");
  await anas.openChat(ben.id);
  await anas.composer().focus();
  await callButton(bens, ana).click();
  await patient(callScreen(anas, ben)).toContainText(ringingAudio);
  await control(anas, "decline").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);

  // Her finger is on the microphone: she speaks on, and what she lets go of is sent.
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
  await control(bens, "hangUp").click();
  await patient(banner(anas)).toHaveCount(0);
  await patient(bens.page.getByRole("button", { name: new RegExp(`^${texts.messages.playVoice}`) })).toHaveCount(1);
  for (const phone of [anas, bens]) await phone.close();
});
