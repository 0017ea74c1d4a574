import type { Browser, Locator } from "@playwright/test";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { dragOver, drop, type MadeFile } from "#tests/support/browser/media.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { countRecordings, readServerTexts } from "#tests/support/server/logs.ts";
import type { Server } from "#tests/support/server/server.ts";

const messagesOf = ({ page }: TestClient): Locator => page.getByRole("main").locator("ol > li");
const timerOf = ({ page }: TestClient): Locator => page.getByRole("timer");
const microphoneOf = ({ page, texts }: TestClient): Locator =>
  page.getByRole("button", { name: texts.chat.voice.record });
const voiceButton = ({ page, texts }: TestClient, name: keyof typeof texts.chat.voice): Locator =>
  page.getByRole("button", { name: texts.chat.voice[name], exact: true });
/** Voice messages by their play buttons, oldest first. */
const notesOf = (phone: TestClient): Locator =>
  messagesOf(phone).getByRole("button", { name: new RegExp(`^${phone.texts.messages.playVoice}`) });
const keptOf = ({ page, texts }: TestClient): Locator => page.getByText(texts.chat.voice.kept, { exact: true }).first();

const list: MadeFile = { name: "liste.txt", mimeType: "text/plain", buffer: Buffer.from("liste") };

/** Waits until this much was recorded. */
const timerReaches = (phone: TestClient, seconds: number): Promise<void> =>
  expect
    .poll(async () => {
      const [minutes = 0, rest = 0] = ((await timerOf(phone).textContent()) ?? "").split(":").map(Number);
      return minutes * 60 + rest;
    })
    .toBeGreaterThanOrEqual(seconds);

/** Moves the mouse to the microphone. */
const point = async (phone: TestClient): Promise<{ x: number; y: number }> => {
  await microphoneOf(phone).hover(); // once it stands still
  const box = await microphoneOf(phone).boundingBox();
  if (!box) throw new Error("no microphone");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

/** Presses the microphone and holds it until the timer shows this time. */
const hold = async (phone: TestClient, seconds: number): Promise<{ x: number; y: number }> => {
  const at = await point(phone);
  await phone.page.mouse.down();
  await timerReaches(phone, seconds);
  return at;
};

/** Taps with the event times of a short tap, however long a busy page needs to process them. */
const tap = async (phone: TestClient): Promise<void> => {
  const at = await point(phone);
  const input = await phone.context.newCDPSession(phone.page);
  const now = Date.now() / 1_000;
  const press = { ...at, button: "left", clickCount: 1 } as const;
  await Promise.all([
    input.send("Input.dispatchMouseEvent", { ...press, type: "mousePressed", timestamp: now - 0.1 }),
    input.send("Input.dispatchMouseEvent", { ...press, type: "mouseReleased", timestamp: now }),
  ]);
  await input.detach();
};

/** Delays the microphone until the returned function is called, so that nothing is recorded by then. */
const slowMicrophone = async ({ page }: TestClient): Promise<() => Promise<void>> => {
  await page.evaluate(() => {
    const { mediaDevices } = navigator;
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    const given = new Promise<void>((give) => Object.assign(globalThis, { give }));
    mediaDevices.getUserMedia = async (wanted) => {
      mediaDevices.getUserMedia = open;
      await given;
      return open(wanted);
    };
  });
  return () => page.evaluate(() => (globalThis as unknown as { give(): void }).give());
};

/**
 * Delays the recorder's code until the returned function is called. It returns how often the microphone was opened by
 * then.
 */
const withholdRecorder = async ({ page }: TestClient): Promise<() => Promise<number>> => {
  const recorder = "**/assets/voice-recording-*.js";
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  const addresses: string[] = [];
  await page.route(recorder, async (route) => {
    addresses.push(route.request().url());
    await given;
    await route.continue();
  });
  await page.evaluate(() => {
    const { mediaDevices } = navigator;
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    Object.assign(globalThis, { opened: 0 });
    mediaDevices.getUserMedia = (wanted) => {
      (globalThis as unknown as { opened: number }).opened++;
      return open(wanted);
    };
  });
  return async () => {
    await expect.poll(() => addresses.length).toBeGreaterThan(0);
    give();
    const opened = await page.evaluate(async (address) => {
      await import(address);
      await new Promise((resolve) => setTimeout(resolve)); // every earlier request for it has it too
      return (globalThis as unknown as { opened: number }).opened;
    }, addresses[0] ?? "");
    await page.unroute(recorder);
    return opened;
  };
};

/** Waits until the next tap cannot be taken as the second tap on the send button. */
const secondTapIsOver = async ({ page }: TestClient): Promise<void> => {
  const sentMs = await page.evaluate(() => performance.now());
  await page.waitForFunction((sentMs) => performance.now() - sentMs > 600, sentMs);
};

/** Opens the chat of two new people on the phone of the first. `countArrived` counts the voice messages on the server. */
const openChat = async (browser: Browser, server: Server, n: number) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, n);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);
  const countArrived = async () =>
    (await readServerTexts(site, ben, conversation)).filter((text) => text === "<voice>").length;
  return { anas, ben, site, conversation, countArrived };
};

test("a voice message is recorded, locked, played, discarded or sent, by touch and by keyboard", async ({
  browser,
  server,
}) => {
  const { anas, countArrived } = await openChat(browser, server, 3404);
  const { page, texts } = anas;

  // Held, and released to send. Nothing above the composer moves.
  const topOfForm = () => page.locator("form").evaluate((form) => form.getBoundingClientRect().top);
  const before = await topOfForm();
  await hold(anas, 2);
  expect(await topOfForm()).toBe(before);
  await page.mouse.up();
  await expect.poll(countArrived).toBe(1);
  await expect(anas.composer()).toBeVisible();
  await notesOf(anas).first().click();
  // Poll often: it does not last long.
  const heard = () => messagesOf(anas).first().textContent();
  await expect.poll(heard, { intervals: [50] }).toMatch(/00:0[1-9] \/ 00:\d\d/);

  // Slid to the trash, it is discarded; a very short one counts as a mistake.
  const at = await hold(anas, 1);
  await page.mouse.move(at.x - 150, at.y, { steps: 3 });
  await expect(page.getByText(texts.chat.voice.release)).toBeVisible();
  await page.mouse.up();
  await expect(timerOf(anas)).toHaveCount(0);
  const giveMicrophone = await slowMicrophone(anas);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  const pressedMs = await page.evaluate(() => performance.now());
  await page.waitForFunction((pressedMs) => performance.now() - pressedMs > 320, pressedMs);
  await page.mouse.up();
  await expect(page.getByText(texts.chat.voice.hint)).toBeVisible();
  await expect(anas.composer()).toBeVisible();
  await giveMicrophone();

  // Slid up, recording is locked; stopped, it can be played before sending.
  const up = await hold(anas, 0);
  await page.mouse.move(up.x, up.y - 120, { steps: 3 });
  await page.mouse.up();
  await timerReaches(anas, 1);
  const looks = await findAxeViolations(page);
  expect(looks).toEqual([]);
  await voiceButton(anas, "stop").click();
  await expect(keptOf(anas)).toBeVisible();
  await voiceButton(anas, "play").click();
  await expect(voiceButton(anas, "pause")).toBeVisible();
  await voiceButton(anas, "send").click();
  await expect.poll(countArrived).toBe(2);

  // A tap records nothing and shows the instruction; the keyboard records without holding.
  await secondTapIsOver(anas);
  await expect(page.getByText(texts.chat.voice.hint)).toHaveCount(0);
  await tap(anas);
  await expect(page.getByText(texts.chat.voice.hint)).toBeVisible();
  await expect(anas.composer()).toBeVisible();
  await expect(timerOf(anas)).toHaveCount(0);
  await expect.poll(() => countRecordings(page)).toBe(0);
  await microphoneOf(anas).focus();
  await page.keyboard.press("Enter");
  await timerReaches(anas, 1);
  await page.keyboard.press("Enter");
  await expect.poll(countArrived).toBe(3);

  // A call or the notification shade cancels the touch: recording stops, nothing is sent and nothing is lost.
  await secondTapIsOver(anas);
  await hold(anas, 1);
  await microphoneOf(anas).dispatchEvent("pointercancel");
  await expect(keptOf(anas)).toBeVisible();
  await expect(timerOf(anas)).toHaveCount(0);
  await page.mouse.up();
  await expect(keptOf(anas)).toBeVisible();
  await expect(messagesOf(anas)).toHaveCount(3);
  await voiceButton(anas, "send").click();
  await expect.poll(countArrived).toBe(4);
  await expect(messagesOf(anas)).toHaveCount(4);
  await anas.close();
});

test("a recording survives its page and its chat, and is sent once or discarded", async ({ browser, server }) => {
  const { anas, ben, countArrived } = await openChat(browser, server, 3406);
  const { page, texts } = anas;
  const back = page.getByRole("link", { name: texts.common.back });
  const row = anas.conversation(ben.username);

  // A user who leaves before the recorder's code is loaded is not recorded when it arrives.
  await page.evaluate(() => {
    const { mediaDevices } = navigator;
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    Object.assign(globalThis, { openings: 0 });
    mediaDevices.getUserMedia = (wanted) => {
      (globalThis as unknown as { openings: number }).openings++;
      return open(wanted);
    };
  });
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route("**/assets/sending-*", (route) => held.then(() => route.continue()));
  const asked = page.waitForRequest("**/assets/sending-*");
  await microphoneOf(anas).press("Enter");
  await asked;
  await page.getByRole("link", { name: ben.username }).first().click();
  await page.waitForURL("**/app/user/**");
  await expect(microphoneOf(anas)).toHaveCount(0); // the address changes before the screen does
  await page.goBack();
  await expect(microphoneOf(anas)).toBeVisible();
  letGo();
  await microphoneOf(anas).press("Enter");
  await timerReaches(anas, 1);
  expect(await page.evaluate(() => (globalThis as unknown as { openings: number }).openings)).toBe(1);
  await voiceButton(anas, "discard").click();
  await expect(anas.composer()).toBeVisible();

  await microphoneOf(anas).press("Enter");
  await timerReaches(anas, 3);
  await expect.poll(() => countRecordings(page)).toBe(1);
  await page.reload();
  await expect(keptOf(anas)).toBeVisible();
  await voiceButton(anas, "send").click();
  await expect.poll(countArrived).toBe(1);
  await expect.poll(() => countRecordings(page)).toBe(0);
  await page.reload();
  await expect(microphoneOf(anas)).toBeVisible();
  await expect(messagesOf(anas)).toHaveCount(1);

  // Left before the recorder is loaded: a user who left is not recorded.
  const fetchRecorder = await withholdRecorder(anas);
  await microphoneOf(anas).press("Enter");
  await expect(microphoneOf(anas).locator(".spinner")).toBeVisible();
  await back.click();
  await expect(microphoneOf(anas)).toHaveCount(0);
  expect(await fetchRecorder()).toBe(0);
  await row.click();

  // Left and opened again, on a slow phone that is still ending a recording of which nothing is stored yet.
  await page.evaluate(() => {
    const { stop } = MediaRecorder.prototype;
    MediaRecorder.prototype.stop = function () {
      setTimeout(() => stop.call(this), 500);
    };
  });
  await microphoneOf(anas).press("Enter");
  await expect(page.getByRole("status").filter({ hasText: texts.chat.voice.recording })).toHaveCount(1);
  await page.getByRole("link", { name: ben.username }).first().click();
  await page.waitForURL("**/app/user/**");
  await expect(timerOf(anas)).toHaveCount(0); // the address changes before the screen does
  await page.goBack();
  await expect(keptOf(anas)).toBeVisible();
  // The list shows it as a draft.
  const mark = `${texts.masolo.draft} ${texts.masolo.draftVoice}`;
  await back.click();
  await expect(row).toContainText(mark);
  await row.click();
  await voiceButton(anas, "discard").click();
  await expect(anas.composer()).toBeVisible();
  await expect.poll(() => countRecordings(page)).toBe(0);
  await expect(microphoneOf(anas)).toBeVisible();
  expect(await countArrived()).toBe(1);

  await back.click();
  await expect(row).toContainText(texts.masolo.own);
  await expect(row).not.toContainText(mark);
  await row.click();
  await expect(microphoneOf(anas)).toBeVisible();

  // The microphone is unplugged during the recording.
  await page.evaluate(() => {
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      const stream = await open(wanted);
      const unplug = () => {
        for (const track of stream.getTracks()) track.stop();
      };
      return Object.assign(globalThis, { unplug }) && stream;
    };
  });
  await microphoneOf(anas).press("Enter");
  await timerReaches(anas, 2);
  // A headset that comes changes nothing.
  await page.evaluate(() => navigator.mediaDevices.dispatchEvent(new Event("devicechange")));
  await timerReaches(anas, 3);
  await page.evaluate(() => (globalThis as unknown as { unplug(): void }).unplug());
  await expect(page.getByRole("alert")).toContainText(texts.chat.voice.lost);
  await voiceButton(anas, "send").click();
  await expect.poll(countArrived).toBe(2);
  await anas.close();
});

test("covering the recorder keeps the recording for review, and who allows neither microphone nor camera is told so", async ({
  browser,
  server,
}) => {
  const { anas, ben, site, conversation, countArrived } = await openChat(browser, server, 3412);
  const { page, texts } = anas;
  await sendTexts(site, ben, conversation, ["à transférer"]);
  const { attach, camera, send, voice } = texts.chat;
  await expect(anas.message("à transférer")).toBeVisible();

  // The search of the chat.
  await microphoneOf(anas).press("Enter");
  await timerReaches(anas, 3); // long enough to be playing
  await page.getByRole("button", { name: texts.common.more }).click();
  await page.getByRole("menuitem", { name: texts.chat.search }).click();
  await expect(page.getByRole("status").getByText(texts.chat.voice.covered)).toBeVisible();
  await expect(timerOf(anas)).toHaveCount(0);
  await page.getByRole("button", { name: texts.chat.closeSearch }).click();
  await voiceButton(anas, "play").click();
  await expect(voiceButton(anas, "pause")).toBeVisible();
  await voiceButton(anas, "send").click();
  await expect.poll(countArrived).toBe(1);

  // Forwarding a message opens a full screen on a phone.
  await secondTapIsOver(anas);
  await microphoneOf(anas).press("Enter");
  await timerReaches(anas, 1);
  await anas.message("à transférer").locator("bdi").first().click({ button: "right" });
  const forward = page.getByRole("menuitem", { name: texts.messages.forward, exact: true });
  await expect(forward).toBeVisible();
  await expect(timerOf(anas)).toBeVisible(); // a menu hides nothing
  await forward.click();
  await expect(page.getByRole("dialog", { name: texts.messages.forwardTitle })).toBeVisible();
  await expect(timerOf(anas)).toHaveCount(0);
  // The first button is that of the sheet, a toast in it has another.
  await page.getByRole("dialog").getByRole("button", { name: texts.common.close }).first().click();
  await voiceButton(anas, "send").click();
  await expect.poll(countArrived).toBe(2);

  // Dropped files open the attachment sheet.
  await secondTapIsOver(anas);
  await microphoneOf(anas).press("Enter");
  await timerReaches(anas, 1);
  await dragOver(page);
  await drop(page.getByText(texts.chat.attach.drop), [list]);
  await expect(page.getByRole("dialog")).toBeVisible();
  await expect(timerOf(anas)).toHaveCount(0);
  // Its only file is removed, which closes it; then the recording is discarded.
  await page.getByRole("button", { name: fill(attach.remove, { name: list.name }) }).click();
  await voiceButton(anas, "discard").click();
  await expect(anas.composer()).toBeVisible();

  // Neither microphone nor camera.
  const answer = (name: string) =>
    page.evaluate((name) => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", name));
    }, name);
  await answer("NotAllowedError");
  await microphoneOf(anas).press("Enter");
  await expect(page.getByRole("alert")).toContainText(voice.denied);
  await anas.attach("camera");
  await expect(page.getByRole("alert")).toContainText(camera.denied);
  await answer("NotFoundError");
  await anas.attach("camera");
  await expect(page.getByRole("alert")).toContainText(camera.absent);
  await microphoneOf(anas).press("Enter");
  await expect(page.getByRole("alert")).toContainText(voice.absent);
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(anas.composer()).toBeVisible();

  // An empty file cannot be sent.
  const nothing = { name: "vide.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) };
  await page.locator("input[type=file]").first().setInputFiles(nothing);
  await expect(page.getByRole("dialog").getByRole("alert").filter({ hasText: attach.empty })).toBeVisible();
  await expect(page.getByRole("dialog").getByRole("button", { name: send, exact: true })).toBeDisabled();
  await anas.close();
});
