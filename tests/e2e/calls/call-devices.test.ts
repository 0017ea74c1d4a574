import { findChromium } from "#scripts/local/chromium.mjs";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callBackButton,
  callButton,
  callControl,
  callEntry,
  callScreen,
  callTimeoutMs,
  expectHearing,
  expectSeeing,
  findBox,
  openCallClient,
  placeCall,
  videoTimeoutMs,
} from "#tests/support/browser/call-client.ts";
import { instrumentDevices } from "#tests/support/browser/call-devices.ts";
import { fill, type TestClient } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

// A phone has several cameras, which a page finds again after a reload. The second of Chromium's fake cameras returns
// depth data, which no browser can send.
test.use({
  actionTimeout: callTimeoutMs,
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
const patient = expect.configure({ timeout: callTimeoutMs });

const button = ({ page }: TestClient, name: string) => page.getByRole("button", { name, exact: true });
const openOf = ({ page }: TestClient, kind: "audio" | "video") =>
  page.evaluate((kind) => window.devices.open(kind), kind);
const wakeLocks = ({ page }: TestClient) => page.evaluate(() => window.devices.wakeLocks());
const press = ({ page }: TestClient, action: string) =>
  page.evaluate((action) => window.devices.actions[action]?.(), action);
const actionsOf = ({ page }: TestClient) => page.evaluate(() => Object.keys(window.devices.actions).sort());

/** Bitrate limits of voice and video, as configured in the browser. */
const sentBy = ({ page }: TestClient) =>
  page.evaluate(() => {
    const live = window.peerConnections.find(({ connectionState }) => connectionState === "connected");
    const senders = (live?.getSenders() ?? []).filter(({ track }) => track !== null);
    return Object.fromEntries(
      senders.map((sender) => [sender.track?.kind, sender.getParameters().encodings[0]?.maxBitrate]),
    );
  });
const outputOf = ({ page }: TestClient) => page.evaluate(() => document.querySelector("audio")?.sinkId);

test("a call opens the devices it needs, continues with those available, and releases all of them", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 8_310);
  const [ana, ben] = people;
  const anas = await openCallClient(browser, server);
  const bens = await openCallClient(browser, server, { language: "en" });
  await Promise.all([instrumentDevices(anas.page, true), instrumentDevices(bens.page)]);
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  const { texts } = anas;
  const bensTexts = bens.texts;
  const notice = ({ page }: TestClient, text: string, name = "") =>
    page.getByText(fill(text, { name }), { exact: true });

  // On the first call of a device the data use per minute is shown, once.
  await bens.page.evaluate(() => localStorage.removeItem("call-price"));
  await callButton(bens, ana, "audio").click();
  const price = bens.page.getByRole("alertdialog", {
    name: fill(bensTexts.calls.price.title.audio, { name: ana.username }),
  });
  await expect(price).toContainText(/0\.3\sMB/);
  await bens.page.keyboard.press("Escape");
  await expect(price).toHaveCount(0);
  await expect(callScreen(bens, ana)).toHaveCount(0);
  await callButton(bens, ana, "audio").click();
  await price.getByRole("button", { name: bensTexts.people.audioCall }).click();
  await expect(callScreen(bens, ana)).toBeVisible();
  await callControl(bens, "hangUp").click();
  await expect(callScreen(bens, ana)).toHaveCount(0);
  await expect(callButton(bens, ana, "audio")).toBeEnabled();
  expect(await bens.page.evaluate(() => localStorage.getItem("call-price"))).toBe("audio");
  // It rang on her device too, and the ring replaces the question that was shown.
  await patient(callEntry(anas, `${ben.username} : Appel audio manqué`)).toBeVisible();
  await patient(callScreen(anas, ben)).toHaveCount(0);

  // With the data saver on, every video call needs a confirmation. His camera is not allowed: the call continues
  // without it.
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
  expect(await openOf(bens, "audio")).toEqual([]); // no device is opened while it only rings
  await expect.poll(() => bens.page.evaluate(() => window.devices.trembled.length)).toBeGreaterThan(0);
  await callControl(bens, "accept").click();
  await expectHearing(anas, bens);
  await expectSeeing(bens);
  await patient(notice(bens, bensTexts.calls.notice.cameraRefused)).toBeVisible();
  await expect(anas.page.locator("video")).toHaveCount(1); // her own

  // With the data saver, voice and video use low bitrates.
  const sends = (phone: TestClient) => expect.poll(() => sentBy(phone), { timeout: videoTimeoutMs });
  await sends(anas).toEqual({ audio: 12_000, video: 150_000 });
  await sends(bens).toEqual({ audio: 24_000 });

  // The screens stay on, also after the page was hidden for a moment.
  for (const phone of [anas, bens]) await expect.poll(() => wakeLocks(phone)).toBe(1);
  await anas.page.evaluate(() => window.devices.hideForAMoment());
  await expect.poll(() => wakeLocks(anas)).toBe(1);

  // The system's media controls do the same as those of the page.
  const titleOf = ({ page }: TestClient) => page.evaluate(() => navigator.mediaSession.metadata?.title);
  await expect.poll(() => titleOf(anas)).toBe(ben.username);
  await expect.poll(() => actionsOf(anas)).toEqual(["hangup", "togglecamera", "togglemicrophone"]);
  await press(anas, "togglemicrophone");
  await expect(callControl(anas, "mute")).toHaveAttribute("aria-pressed", "true");
  await patient(notice(bens, bensTexts.calls.notice.peerMuted, ana.username)).toBeVisible();
  await press(anas, "togglemicrophone");
  await expect(callControl(anas, "mute")).toHaveAttribute("aria-pressed", "false");

  // The next camera replaces the former one, so only one is active.
  const used = await openOf(anas, "video");
  for (let turn = 1; turn < 3; turn++) {
    await button(anas, texts.calls.turnCamera).click();
    await expect.poll(async () => (await openOf(anas, "video")).filter((id) => !used.includes(id))).toHaveLength(1);
    const now = await openOf(anas, "video");
    expect(now).toHaveLength(1);
    used.push(...now);
  }
  await expectSeeing(bens);

  // After a reload her page uses the camera she switched to.
  for (const { page } of [anas, bens]) page.on("dialog", (dialog) => void dialog.accept());
  await anas.openChat(ben.id);
  await expectSeeing(bens);
  await expect.poll(() => openOf(anas, "video")).toEqual(used.slice(-1));

  // On a wide screen the call is a panel; her own video can be dragged inside it, and not out of it.
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

  // He wants audio only for a while. Her video is not sent and she reads why. She did not switch off her camera, but it
  // is closed after a moment; when it is sent again, she is told.
  await button(bens, bensTexts.calls.voiceOnly).click();
  await patient(notice(anas, texts.calls.notice.cameraUnwanted, ben.username)).toBeVisible();
  await expect(button(anas, texts.calls.camera)).toHaveAttribute("aria-pressed", "false"); // it is not off
  await expect(bens.page.locator("video")).toHaveCount(0);
  await patient.poll(() => openOf(anas, "video")).toEqual([]);
  await expect(notice(anas, texts.calls.notice.cameraUnwanted, ben.username)).toBeVisible();
  await expect(button(anas, texts.calls.camera)).toHaveAttribute("aria-pressed", "false");
  await button(bens, bensTexts.calls.voiceOnly).click();
  await patient(notice(anas, texts.calls.notice.seenAgain)).toBeVisible();
  await expectSeeing(bens);
  expect(await openOf(anas, "video")).toEqual(used.slice(-1));

  // Her camera is unplugged, then her microphone: each is reported and restored automatically.
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

  // Her picture-in-picture window, with the call minimised.
  await button(bens, bensTexts.calls.popOut).click();
  const isOut = () => bens.page.evaluate(() => document.pictureInPictureElement !== null);
  await expect.poll(isOut).toBe(true);
  await expect(callScreen(bens, ana)).toHaveCount(0);

  // After the call was ended by the system's control, both devices are closed.
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

  // Asked again, she accepts with audio only. He has no microphone: she is heard, and both are told.
  await bens.page.evaluate(() => {
    window.devices.refused.audio = "NotFoundError";
  });
  await placeCall(anas, ben, "video");
  await question.getByRole("button", { name: texts.people.audioCall }).click();
  await patient(callScreen(bens, ana)).toContainText(bensTexts.calls.status.ringingAudio);
  await callControl(bens, "accept").click();
  await expectHearing(bens);
  await patient(notice(bens, bensTexts.calls.notice.micMissing)).toBeVisible();
  await expect(callControl(bens, "mute")).toHaveAttribute("aria-pressed", "true");
  await expect(button(anas, texts.calls.camera)).toHaveCount(0);
  expect(await openOf(anas, "video")).toEqual([]);

  // He selects the audio output: by the button and back, then by the sheet.
  const speaker = button(bens, bensTexts.calls.speaker);
  expect(await outputOf(bens)).toBe("");
  await speaker.click();
  await expect(speaker).toHaveAttribute("aria-pressed", "true");
  await expect.poll(() => outputOf(bens)).not.toBe("");
  await speaker.click();
  await expect(speaker).toHaveAttribute("aria-pressed", "false");
  await expect.poll(() => outputOf(bens)).toBe("");
  await button(bens, bensTexts.calls.devices.openAudio).click();
  const sheet = bens.page.getByRole("dialog", { name: bensTexts.calls.devices.titleAudio });
  const output = sheet.getByRole("group", { name: bensTexts.calls.devices.output }).getByRole("radio");
  await output.last().click(); // selected once the sound is routed there
  await expect(output.last()).toBeChecked();
  await expect.poll(() => outputOf(bens)).not.toBe("");
  await bens.page.keyboard.press("Escape");
  await expect(speaker).toHaveAttribute("aria-pressed", "true");
  await expectHearing(bens);
  // It is pulled out and comes back: the sound moves to the default output meanwhile.
  const chosenOutput = (await outputOf(bens)) ?? "";
  await bens.page.evaluate((id) => {
    window.devices.absentOutputs.add(id);
    window.devices.tellChange();
  }, chosenOutput);
  await expect.poll(() => outputOf(bens)).toBe("");
  await bens.page.evaluate(() => {
    window.devices.absentOutputs.clear();
    window.devices.tellChange();
  });
  await expect.poll(() => outputOf(bens)).toBe(chosenOutput);
  await expectHearing(bens);
  // An entry of another call opens nothing meanwhile and says so, also where a price was never shown.
  await bens.page.keyboard.press("Escape");
  expect(await bens.page.evaluate(() => localStorage.getItem("call-price"))).toBe("audio");
  await callBackButton(
    callEntry(bens, `${ana.username}: Video call ended`).last(),
    bens,
    ana.username,
    "video",
  ).click();
  await expect(notice(bens, bensTexts.calls.say.inProgress)).toBeVisible();
  await bens.page.getByRole("button", { name: bensTexts.calls.restore }).click();
  // A device that is connected or allowed now is used when he asks for it.
  await bens.page.evaluate(() => {
    delete window.devices.refused.audio;
  });
  await callControl(bens, "mute").click();
  await expect(callControl(bens, "mute")).toHaveAttribute("aria-pressed", "false");
  await expectHearing(anas);
  // After a reload his page uses the output he chose.
  const outputBefore = await outputOf(bens);
  await bens.openChat(ana.id);
  await expectHearing(bens);
  await expect.poll(() => outputOf(bens)).toBe(outputBefore);
  await expect(speaker).toHaveAttribute("aria-pressed", "true");
  await callControl(anas, "hangUp").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);
  for (const phone of [anas, bens]) await phone.close();
});
