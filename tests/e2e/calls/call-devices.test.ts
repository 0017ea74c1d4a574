import { findChromium } from "#scripts/local/chromium.mjs";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { watchDevicesOf } from "#tests/support/browser/call-devices.ts";
import {
  callBackButton,
  callButton,
  callLine,
  callScreen,
  control,
  expectHearing,
  expectSeeing,
  findBox,
  openCalling,
  patienceMs,
  picturePatienceMs,
  placeCall,
} from "#tests/support/browser/calling.ts";
import { fill, type Phone } from "#tests/support/browser/phone.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";

// A phone has several cameras, which a page finds again when it is loaded anew. Of Chromium's make-believe ones the
// second gives depths, which no browser can send.
test.use({
  actionTimeout: patienceMs,
  launchOptions: async ({ launchOptions }, use) => {
    const args = ["--use-fake-device-for-media-stream=device-count=3"];
    const executablePath = await findChromium();
    await use({
      ...launchOptions,
      args: [...(launchOptions.args ?? []), ...args],
      ...(executablePath && { executablePath }),
    });
  },
});
const patient = expect.configure({ timeout: patienceMs });

const button = ({ page }: Phone, name: string) => page.getByRole("button", { name, exact: true });
const openOf = ({ page }: Phone, kind: "audio" | "video") => page.evaluate((kind) => window.devices.open(kind), kind);
const wakeLocks = ({ page }: Phone) => page.evaluate(() => window.devices.wakeLocks());
const press = ({ page }: Phone, action: string) =>
  page.evaluate((action) => window.devices.actions[action]?.(), action);
const actionsOf = ({ page }: Phone) => page.evaluate(() => Object.keys(window.devices.actions).sort());

/** What is sent at most, voice and picture, as the browser was told. */
const sentBy = ({ page }: Phone) =>
  page.evaluate(() => {
    const live = window.peerConnections.find(({ connectionState }) => connectionState === "connected");
    const senders = (live?.getSenders() ?? []).filter(({ track }) => track !== null);
    return Object.fromEntries(
      senders.map((sender) => [sender.track?.kind, sender.getParameters().encodings[0]?.maxBitrate]),
    );
  });
const outputOf = ({ page }: Phone) => page.evaluate(() => document.querySelector("audio")?.sinkId);

test("a call takes of the phone what it needs, goes on with what there is, and gives all of it back", async ({
  browser,
  server,
}) => {
  const { people } = await makeCouple(siteOf(server), 8_310);
  const [ana, ben] = people;
  const anas = await openCalling(browser, server);
  const bens = await openCalling(browser, server, { language: "en" });
  await Promise.all([watchDevicesOf(anas.page, true), watchDevicesOf(bens.page)]);
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  const { texts } = anas;
  const his = bens.texts;
  const notice = ({ page }: Phone, text: string, name = "") => page.getByText(fill(text, { name }), { exact: true });

  // The first time a device calls it is told what a minute takes, once.
  await bens.page.evaluate(() => localStorage.removeItem("call-price"));
  await callButton(bens, ana, "audio").click();
  const price = bens.page.getByRole("alertdialog", {
    name: fill(his.calls.price.title.audio, { name: ana.username }),
  });
  await expect(price).toContainText(/0\.3\sMB/);
  await bens.page.keyboard.press("Escape");
  await expect(price).toHaveCount(0);
  await expect(callScreen(bens, ana)).toHaveCount(0);
  await callButton(bens, ana, "audio").click();
  await price.getByRole("button", { name: his.people.audioCall }).click();
  await expect(callScreen(bens, ana)).toBeVisible();
  await control(bens, "hangUp").click();
  await expect(callScreen(bens, ana)).toHaveCount(0);
  await expect(callButton(bens, ana, "audio")).toBeEnabled();
  expect(await bens.page.evaluate(() => localStorage.getItem("call-price"))).toBe("audio");
  // It rang with her, too, and does no more: a ring takes the place of what she is asked.
  await patient(callLine(anas, `${ben.username} : Appel audio manqué`)).toBeVisible();
  await patient(callScreen(anas, ben)).toHaveCount(0);

  // Whoever saves data is asked before every video call. His camera is not allowed: the call goes on without it.
  await bens.page.evaluate(() => {
    window.devices.refused.video = "NotAllowedError";
  });
  await placeCall(anas, ben, "video");
  const question = anas.page.getByRole("alertdialog", {
    name: fill(texts.calls.price.title.video, { name: ben.username }),
  });
  await expect(question).toContainText(/Mo par minute/);
  await question.getByRole("button", { name: texts.common.cancel }).click();
  await expect(question).toHaveCount(0);
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await placeCall(anas, ben, "video");
  await question.getByRole("button", { name: texts.people.videoCall }).click();
  await patient(callScreen(bens, ana)).toBeVisible();
  expect(await openOf(bens, "audio")).toEqual([]); // nothing is opened where it only rings
  await expect.poll(() => bens.page.evaluate(() => window.devices.trembled.length)).toBeGreaterThan(0);
  await control(bens, "accept").click();
  await expectHearing(anas, bens);
  await expectSeeing(bens);
  await patient(notice(bens, his.calls.notice.cameraRefused)).toBeVisible();
  await expect(anas.page.locator("video")).toHaveCount(1); // her own

  // Of who saves data a small voice goes and a small picture.
  const sends = (phone: Phone) => expect.poll(() => sentBy(phone), { timeout: picturePatienceMs });
  await sends(anas).toEqual({ audio: 12_000, video: 150_000 });
  await sends(bens).toEqual({ audio: 24_000 });

  // The screens stay on, also after the page was hidden for a moment.
  for (const phone of [anas, bens]) await expect.poll(() => wakeLocks(phone)).toBe(1);
  await anas.page.evaluate(() => window.devices.hideForAMoment());
  await expect.poll(() => wakeLocks(anas)).toBe(1);

  // The system's own controls do what those of the page do.
  const titleOf = ({ page }: Phone) => page.evaluate(() => navigator.mediaSession.metadata?.title);
  await expect.poll(() => titleOf(anas)).toBe(ben.username);
  await expect.poll(() => actionsOf(anas)).toEqual(["hangup", "togglecamera", "togglemicrophone"]);
  await press(anas, "togglemicrophone");
  await expect(control(anas, "mute")).toHaveAttribute("aria-pressed", "true");
  await patient(notice(bens, his.calls.notice.peerMuted, ana.username)).toBeVisible();
  await press(anas, "togglemicrophone");
  await expect(control(anas, "mute")).toHaveAttribute("aria-pressed", "false");

  // The next camera takes the place of the one before, and there is one light on.
  const used = await openOf(anas, "video");
  for (let turn = 1; turn < 3; turn++) {
    await button(anas, texts.calls.turnCamera).click();
    await expect.poll(async () => (await openOf(anas, "video")).filter((id) => !used.includes(id))).toHaveLength(1);
    const now = await openOf(anas, "video");
    expect(now).toHaveLength(1);
    used.push(...now);
  }
  await expectSeeing(bens);

  // Loaded anew, her page films with the camera she turned to.
  for (const { page } of [anas, bens]) page.on("dialog", (dialog) => void dialog.accept());
  await anas.openChat(ben.id);
  await expectSeeing(bens);
  await expect.poll(() => openOf(anas, "video")).toEqual(used.slice(-1));

  // On a wide screen the call has a panel; her own picture is dragged about in it, and not out of it.
  await anas.page.setViewportSize({ width: 1280, height: 800 });
  const panelAt = () => findBox(anas.page.locator("[data-part=header]").locator(".."));
  await patient.poll(panelAt).toMatchObject({ width: 512, height: 700 });
  const panel = await panelAt();
  const preview = button(anas, texts.calls.preview);
  const previewAt = () => findBox(preview);
  await patient.poll(previewAt).toMatchObject({ width: 128, height: 192 });
  await preview.hover(); // once it stands still
  const before = await previewAt();
  await anas.page.mouse.down();
  await anas.page.mouse.move(5, 400, { steps: 3 });
  await anas.page.mouse.up();
  const left = async () => (await previewAt())?.x;
  await patient.poll(left).toBeLessThan(before?.x ?? 0);
  expect(await left()).toBeGreaterThan(panel?.x ?? 0);
  await anas.page.setViewportSize({ width: 360, height: 740 });

  // He wants the voice alone for a while: her picture stays with her, who reads why. She did not switch her camera off,
  // yet after a moment its light is out; when she is seen again that is said.
  await button(bens, his.calls.voiceOnly).click();
  await patient(notice(anas, texts.calls.notice.cameraUnwanted, ben.username)).toBeVisible();
  await expect(button(anas, texts.calls.camera)).toHaveAttribute("aria-pressed", "false"); // it is not off
  await expect(bens.page.locator("video")).toHaveCount(0);
  await patient.poll(() => openOf(anas, "video")).toEqual([]);
  await expect(notice(anas, texts.calls.notice.cameraUnwanted, ben.username)).toBeVisible();
  await expect(button(anas, texts.calls.camera)).toHaveAttribute("aria-pressed", "false");
  await button(bens, his.calls.voiceOnly).click();
  await patient(notice(anas, texts.calls.notice.seenAgain)).toBeVisible();
  await expectSeeing(bens);
  expect(await openOf(anas, "video")).toEqual(used.slice(-1));

  // Her camera is unplugged, then her microphone: each is said, and comes again by itself.
  await anas.page.evaluate(() => window.devices.unplug("video"));
  await patient(notice(anas, texts.calls.notice.cameraUnplugged)).toBeVisible();
  await patient(bens.page.locator("video")).toHaveCount(0);
  await expectHearing(bens);
  await anas.page.evaluate(() => window.devices.plugIn("video"));
  await expect(notice(anas, texts.calls.notice.cameraUnplugged)).toHaveCount(0);
  await expectSeeing(bens);
  await anas.page.evaluate(() => window.devices.unplug("audio"));
  await patient(notice(anas, texts.calls.notice.micUnplugged)).toBeVisible();
  await expectSeeing(bens);
  await expectHearing(anas);
  await anas.page.evaluate(() => window.devices.plugIn("audio"));
  await expect(notice(anas, texts.calls.notice.micUnplugged)).toHaveCount(0);
  await expectHearing(bens);

  // Her picture over other windows, the call put away.
  await button(bens, his.calls.popOut).click();
  const isOut = () => bens.page.evaluate(() => document.pictureInPictureElement !== null);
  await expect.poll(isOut).toBe(true);
  await expect(callScreen(bens, ana)).toHaveCount(0);

  // Ended by the system's control, nothing of either phone is kept.
  await press(bens, "hangup");
  for (const [phone, other] of [
    [anas, ben],
    [bens, ana],
  ] as const) {
    await patient(callScreen(phone, other)).toHaveCount(0);
    await expect.poll(() => wakeLocks(phone)).toBe(0);
    await expect.poll(() => actionsOf(phone)).toEqual([]);
    await expect.poll(() => titleOf(phone)).toBeUndefined();
    for (const kind of ["audio", "video"] as const) await expect.poll(() => openOf(phone, kind)).toEqual([]);
  }
  await expect.poll(isOut).toBe(false);

  // Asked again she takes the voice alone. He has no microphone at all: she is heard, and both know.
  await bens.page.evaluate(() => {
    window.devices.refused.audio = "NotFoundError";
  });
  await placeCall(anas, ben, "video");
  await question.getByRole("button", { name: texts.people.audioCall }).click();
  await patient(callScreen(bens, ana)).toContainText(his.calls.status.ringingAudio);
  await control(bens, "accept").click();
  await expectHearing(bens);
  await patient(notice(bens, his.calls.notice.micMissing)).toBeVisible();
  await expect(control(bens, "mute")).toHaveAttribute("aria-pressed", "true");
  await expect(button(anas, texts.calls.camera)).toHaveCount(0);
  expect(await openOf(anas, "video")).toEqual([]);

  // He chooses where she is heard: by the button and back, then by the sheet.
  const speaker = button(bens, his.calls.speaker);
  expect(await outputOf(bens)).toBe("");
  await speaker.click();
  await expect(speaker).toHaveAttribute("aria-pressed", "true");
  await expect.poll(() => outputOf(bens)).not.toBe("");
  await speaker.click();
  await expect(speaker).toHaveAttribute("aria-pressed", "false");
  await expect.poll(() => outputOf(bens)).toBe("");
  await button(bens, his.calls.devices.openAudio).click();
  const sheet = bens.page.getByRole("dialog", { name: his.calls.devices.titleAudio });
  const output = sheet.getByRole("group", { name: his.calls.devices.output }).getByRole("radio");
  await output.last().click(); // checked once the sound goes there
  await expect(output.last()).toBeChecked();
  await expect.poll(() => outputOf(bens)).not.toBe("");
  await bens.page.keyboard.press("Escape");
  await expect(speaker).toHaveAttribute("aria-pressed", "true");
  await expectHearing(bens);
  // The line of another call leads to none meanwhile, and that is said, also where a price was never told.
  await bens.page.keyboard.press("Escape");
  expect(await bens.page.evaluate(() => localStorage.getItem("call-price"))).toBe("audio");
  await callBackButton(callLine(bens, `${ana.username}: Video call ended`).last(), bens, ana.username, "video").click();
  await expect(notice(bens, his.calls.say.inProgress)).toBeVisible();
  await bens.page.getByRole("button", { name: his.calls.restore }).click();
  // One that is there now, or allowed, is taken when he asks for it.
  await bens.page.evaluate(() => {
    delete window.devices.refused.audio;
  });
  await control(bens, "mute").click();
  await expect(control(bens, "mute")).toHaveAttribute("aria-pressed", "false");
  await expectHearing(anas);
  // Loaded anew, his page lets her be heard where he chose.
  const outputBefore = await outputOf(bens);
  await bens.openChat(ana.id);
  await expectHearing(bens);
  await expect.poll(() => outputOf(bens)).toBe(outputBefore);
  await expect(speaker).toHaveAttribute("aria-pressed", "true");
  await control(anas, "hangUp").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);
  for (const phone of [anas, bens]) await phone.close();
});
