import { expect, test } from "#tests/support/browser/browser-test.ts";
import { openReader, sendVoice } from "#tests/support/browser/chat-files.ts";
import { soundsOf, watchSounds } from "#tests/support/browser/sounds.ts";
import { sendTexts } from "#tests/support/people/messages.ts";

const files = "**/api/conversations/*/files/*";

test("a voice message that is tapped and left while it is still loading plays in the next screen", async ({
  browser,
  server,
}) => {
  const { ana, ben, phone, page, texts } = await openReader(browser, server, 9_400, async (site, by, conversation) => {
    await sendVoice(site, by, conversation, 9_000);
    await sendTexts(site, by, conversation, ["Écoute ça"]);
  });
  await watchSounds(page);
  let arrive = () => {};
  await page.route(files, async (route) => {
    await new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await route.continue();
  });
  await phone.signInToChat(ana, ben.id);
  const play = page.getByRole("button", { name: new RegExp(`^${texts.playVoice}`) });
  const pause = page.getByRole("button", { name: new RegExp(`^${texts.pauseVoice}`) });
  const bar = page.getByRole("region", { name: texts.voicePlaying });
  const isHeard = async () => (await soundsOf(page)).some(({ paused }) => !paused);
  const leave = () => page.getByRole("link", { name: phone.texts.common.back }).click();

  await play.click();
  await expect(pause).toBeVisible();
  await leave();
  await expect(bar).toContainText(ben.username);
  await expect(bar).toContainText("00:00 / 00:09");
  expect(await isHeard()).toBe(false);

  // A pause is kept, and another tap resumes loading.
  await bar.getByRole("button", { name: texts.pauseVoice }).click();
  await expect(bar.getByRole("button", { name: texts.playVoice })).toBeVisible();
  await bar.getByRole("button", { name: texts.playVoice }).click();
  arrive();
  await expect.poll(isHeard).toBe(true);
  await expect(bar).toContainText(/00:0[1-9] \/ 00:09/);
  await bar.getByRole("button", { name: texts.closeVoice }).click();
  await expect.poll(isHeard).toBe(false);
  await expect(bar).toHaveCount(0);
  await phone.close();
});

test("a voice message that cannot be loaded says so after its chat was left, and is loaded by another tap", async ({
  browser,
  server,
}) => {
  const { ana, ben, phone, page, texts } = await openReader(browser, server, 9_402, async (site, by, conversation) => {
    await sendVoice(site, by, conversation, 9_000);
  });
  await watchSounds(page);
  let refuse = () => {};
  await page.route(files, async (route) => {
    await new Promise<void>((resolve) => {
      refuse = resolve;
    });
    await route.fulfill({ status: 404, json: { code: 404, error_code: "file_not_found", msg: "" } });
  });
  await phone.signInToChat(ana, ben.id);
  const play = page.getByRole("button", { name: new RegExp(`^${texts.playVoice}`) });
  await play.click();
  await page.getByRole("link", { name: phone.texts.common.back }).click();
  const bar = page.getByRole("region", { name: texts.voicePlaying });
  await expect(bar).toBeVisible();
  refuse();
  await expect(page.getByRole("alert").getByText(texts.voiceFailed)).toBeVisible();
  await expect(bar).toHaveCount(0);

  await page.unroute(files);
  await phone.conversation(ben.username).click();
  await play.click();
  await expect.poll(async () => (await soundsOf(page)).some(({ paused }) => !paused)).toBe(true);
  await phone.close();
});
