import type { Locator, Page } from "@playwright/test";
import { findAxeViolations, findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
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
  expectSilence,
  findBox,
  openCallClient,
  placeCall,
  videoTimeoutMs,
} from "#tests/support/browser/call-client.ts";
import { fill, type TestClient } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

/** Checks accessibility in both themes, and that nothing is wider than the phone. */
const expectNoFaults = async ({ page }: TestClient, name: string) => {
  expect(await findAxeViolationsInBothThemes(page), name).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
};

/** Taps a second time as soon as the button called `then` is where the first was. */
const tapTwice = async (page: Page, button: Locator, then: string) => {
  await button.click({ trial: true }); // it stands still
  const box = await button.boundingBox();
  if (!box) throw new Error("nothing to tap");
  const spot = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const second = page.evaluate(
    ({ x, y, then }) =>
      new Promise<void>((resolve) => {
        const look = () => {
          const there = document.elementFromPoint(x, y)?.closest("button");
          if (there?.getAttribute("aria-label") === then) {
            there.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: x, clientY: y, detail: 2 }));
            resolve();
          } else requestAnimationFrame(look);
        };
        look();
      }),
    { ...spot, then },
  );
  await page.mouse.click(spot.x, spot.y);
  await second;
};

test("two people hear each other, minimise the call, continue after a reload, and see each other after calling back", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 8_200);
  const [ana, ben] = people;
  const anas = await openCallClient(browser, server);
  const bens = await openCallClient(browser, server, { language: "en" });
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signIn(ben)]);
  const { page, texts } = anas;
  const bensTexts = bens.texts;

  // It rings on Ben's present screen, which is no chat.
  await callButton(anas, ben).click();
  await patient(callScreen(anas, ben)).toContainText(texts.calls.status.outgoingRings);
  await expect(callScreen(anas, ben).getByRole("timer")).toHaveCount(0);
  await patient(callScreen(bens, ana)).toContainText(bensTexts.calls.status.ringingAudio);
  await expectNoFaults(bens, "ringing");
  // Minimised, it keeps ringing, and one press restores it.
  await bens.page.keyboard.press("Escape");
  const banner = (phone: TestClient) => phone.page.getByRole("region", { name: phone.texts.calls.banner, exact: true });
  await patient(banner(bens)).toContainText(bensTexts.calls.status.ringingAudio);
  // A second tap hits the button that has replaced the first by then, and ends nothing.
  await tapTwice(bens.page, banner(bens).getByRole("button", { name: bensTexts.calls.accept }), bensTexts.calls.hangUp);
  await expectHearing(anas, bens);
  const timer = page.getByRole("timer", { name: texts.calls.time });
  await patient(timer).toHaveText(/^\d\d:(?!00)\d\d$/);
  await patient(callScreen(anas, ben)).toBeVisible();
  await expectNoFaults(anas, "connected");

  // By keyboard: every control is reached, and nothing behind the screen.
  const reached = new Set<string>();
  for (let n = 0; n < 12; n++) {
    await page.keyboard.press("Tab");
    reached.add(
      await page.evaluate(
        () => document.activeElement?.getAttribute("aria-label") || document.activeElement?.textContent || "",
      ),
    );
  }
  for (const name of [texts.calls.minimise, texts.calls.devices.openAudio, texts.calls.mute, texts.calls.hangUp]) {
    expect([...reached]).toContain(name);
  }
  expect([...reached]).not.toContain(fill(texts.people.audioCallName, { name: ben.username }));

  // A muted voice is not heard, and the other side sees that it is muted.
  await callControl(anas, "mute").click();
  await expect(callControl(anas, "mute")).toHaveAttribute("aria-pressed", "true");
  await banner(bens).getByRole("button", { name: bensTexts.calls.restore }).click();
  await patient(bens.page.getByText(fill(bensTexts.calls.notice.peerMuted, { name: ana.username }))).toBeVisible();
  await expectSilence(bens);
  await callControl(anas, "mute").click();
  await expectHearing(bens);
  await expect(bens.page.getByText(fill(bensTexts.calls.notice.peerMuted, { name: ana.username }))).toHaveCount(0);

  // Muted again, which must survive the next steps. Minimised, in the chat and elsewhere; no other call can start.
  await callControl(anas, "mute").click();
  await expect(callControl(anas, "mute")).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Escape");
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await expect(banner(anas).getByRole("button", { name: texts.calls.restore })).toBeFocused();
  await patient(banner(anas)).toContainText(/Appel audio en cours - \d\d:\d\d/);
  await expect(callButton(anas, ben)).toBeDisabled();
  await page.getByRole("main").getByRole("button", { name: texts.common.more, exact: true }).click();
  await expect(page.getByRole("menuitem", { name: texts.people.videoCall, exact: true })).toBeDisabled();
  await page.keyboard.press("Escape");

  // After a reload during the call it continues without a ring, and she is still muted.
  const asked: string[] = [];
  page.on("dialog", (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await anas.openChat(ben.id);
  await patient(callScreen(anas, ben)).toBeVisible();
  await expectHearing(anas);
  await expect(callControl(anas, "mute")).toHaveAttribute("aria-pressed", "true");
  await expectSilence(bens);
  await callControl(anas, "mute").click();
  await expectHearing(bens);
  await patient(timer).toBeVisible();
  expect(asked).toContain("beforeunload");
  await expect(callControl(bens, "accept")).toHaveCount(0);

  await callControl(bens, "hangUp").click();
  for (const [phone, other] of [
    [anas, ben],
    [bens, ana],
  ] as const)
    await patient(callScreen(phone, other)).toHaveCount(0);
  // The end screen and its entry show the same duration, to the second.
  const over = page.getByRole("region", { name: fill(texts.calls.with, { name: ben.username }) });
  await patient(over).toContainText("Appel audio terminé");
  const line = callEntry(anas, "Vous : Appel audio terminé");
  await patient(line).toContainText(/\d+ s/);
  const [length = "none"] = /(\d+\smin\s)?\d+\ss/.exec((await line.textContent()) ?? "") ?? [];
  await expect(over.getByText(new RegExp(`^${length.replace(/\s/g, " ")}`))).toBeVisible();
  await bens.openRoute(`/app/chat/${ana.id}`);
  await patient(callEntry(anas, "Vous : Appel audio terminé")).toContainText(/\d+ s/);
  await patient(callEntry(bens, `${ana.username}: Audio call ended`)).toContainText(/\d+ s/);

  // She continues writing where she was, although she pressed another control. He calls back with video: the ring takes
  // no letter from her. She answers, and both see each other.
  const letters = "Je t'écris ce soir, ".repeat(20);
  let typed = 0;
  const type = () => page.keyboard.type(letters.charAt(typed++));
  await anas.composer().focus();
  await type();
  await placeCall(bens, ana, "video");
  await expect(async () => {
    await type();
    await expect(banner(anas)).toBeVisible({ timeout: 200 });
  }).toPass({ timeout: callTimeoutMs });
  await expect(banner(anas).getByRole("alert")).toContainText(texts.calls.status.ringingVideo);
  await type();
  await expect(anas.composer()).toHaveValue(letters.slice(0, typed));
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await expectNoFaults(anas, "ringing while writing");
  await callControl(anas, "accept").click();
  await expectSeeing(anas, bens);
  await expectHearing(anas, bens);
  await patient(callScreen(anas, ben)).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);

  // Wherever her own video is placed, it covers no text of the call.
  await callControl(bens, "mute").click();
  await callControl(bens, "camera").click();
  const notice = page.getByText(fill(texts.calls.notice.peerMuted, { name: ben.username }));
  const preview = page.getByRole("button", { name: texts.calls.preview });
  const areApart = async () => {
    const [own, noticeBox] = await Promise.all([preview, notice].map(findBox));
    return own && noticeBox && (own.y + own.height <= noticeBox.y || noticeBox.y + noticeBox.height <= own.y);
  };
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 360, height: 740 },
  ]) {
    await page.setViewportSize(viewport);
    for (let corner = 0; corner < 4; corner++) {
      await expect.poll(areApart, { timeout: videoTimeoutMs }).toBe(true);
      await preview.click();
    }
  }
  await callControl(bens, "camera").click();
  await callControl(anas, "camera").click();
  await expect(callControl(anas, "camera")).toHaveAttribute("aria-pressed", "true");
  await patient(bens.page.locator("video")).toHaveCount(1); // his own
  await callControl(anas, "hangUp").click();
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await expect(anas.composer()).toBeFocused();
  await expect(anas.composer()).toHaveValue(letters.slice(0, typed));
  await patient(callEntry(anas, `${ben.username} : Appel vidéo terminé`)).toBeVisible();
  await expect(
    bens.page.getByRole("main").getByRole("button", { name: bensTexts.common.more, exact: true }),
  ).toBeFocused();
  await patient(callEntry(bens, "You: Video call ended")).toBeVisible();

  // A press on the entry calls back with the same kind. He is recording a voice message: a ring does not disturb it.
  const voice = (name: keyof typeof bensTexts.chat.voice) =>
    bens.page.getByRole("button", { name: bensTexts.chat.voice[name], exact: true });
  const recorded = bens.page.locator("form [role=timer]");
  await voice("record").focus();
  await bens.page.keyboard.press("Enter");
  await patient(recorded).toHaveText(/:(?!00)\d\d$/);
  await callBackButton(callEntry(anas, `${ben.username} : Appel vidéo terminé`), anas, ben.username, "video").click();
  await patient(banner(bens).getByRole("alert")).toContainText(bensTexts.calls.status.ringingVideo);
  await expect(callScreen(bens, ana)).toHaveCount(0);
  await patient(recorded).not.toHaveText((await recorded.textContent()) ?? "");

  // Answering a call stops the recording: it is kept unsent, and no next key press sends it. During a call none can
  // start.
  await callControl(bens, "accept").click();
  await patient(recorded).toHaveCount(0);
  await bens.page.keyboard.press("Escape");
  await patient(banner(bens)).toBeVisible();
  await patient(voice("play")).toBeFocused();
  await voice("discard").click();
  await voice("record").click();
  await expect(bens.page.getByText(bensTexts.chat.voice.inCall)).toBeVisible();
  await expect(recorded).toHaveCount(0);
  // Before she knew that it was answered she would only cancel it.
  await patient(timer).toHaveText(/^\d\d:(?!00)\d\d$/);
  await callControl(anas, "hangUp").click();
  await patient(callEntry(bens, `${ana.username}: Video call ended`)).toBeVisible();
  await voice("record").press("Enter");
  await patient(recorded).toBeVisible();
  for (const phone of [anas, bens]) await phone.close();
});
