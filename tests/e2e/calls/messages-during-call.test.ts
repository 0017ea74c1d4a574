import type { Locator } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callControl,
  callScreen,
  callTimeoutMs,
  connectCall,
  expectSeeing,
  findBox,
  openCallClient,
  placeCall,
  videoTimeoutMs,
} from "#tests/support/browser/call-client.ts";
import { fill } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

/** Checks that none of these covers another. */
const expectApart = async (...all: Locator[]): Promise<void> => {
  const findOverlaps = async () => {
    const boxes = await Promise.all(all.map(findBox));
    return boxes.flatMap((a, index) =>
      boxes.slice(index + 1).flatMap((b) => {
        if (!a || !b) return "one of them does not show";
        const isApart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        return isApart ? [] : JSON.stringify([a, b]);
      }),
    );
  };
  await expect.poll(findOverlaps, { timeout: videoTimeoutMs }).toEqual([]);
};

test("messages of others are shown on the call screen, stay unread, and lead to their chat; the own video covers neither the name nor the time", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 8_460, "Ana"),
    await makePerson(site, 8_461, "Benjamin Kasongo"),
    await makePerson(site, 8_462, "Cléo"),
  ];
  for (const other of [ben, cleo]) await connectPeople(site, ana, other);
  const write = (text: string) => sendTexts(site, cleo, privateConversationId(cleo.id, ana.id), [text]);
  const [anas, bens] = [
    await openCallClient(browser, server, { language: "pt" }),
    await openCallClient(browser, server, { language: "en" }),
  ];
  await Promise.all([anas.signIn(ana, "/app/contacts"), bens.signIn(ben)]);
  const { page, texts } = anas;
  const screen = callScreen(anas, ben);
  const noticeLink = screen.getByRole("link");
  const nameOf = (count: number) => {
    const { newMessages_one: one, newMessages_other: more } = texts.chat;
    return `${fill(count === 1 ? one : more, { count })}. Cléo`;
  };
  const restore = page.getByRole("button", { name: fill(texts.calls.restoreName, { name: ben.username }) });

  await connectCall(anas, bens, ben);
  await expect(noticeLink).toHaveCount(0);
  // The notice appears once the page has nothing more urgent to do.
  await page.waitForFunction(() => document.querySelectorAll("p[role=status]").length > 2);
  // Its text stays for a moment, its number longer.
  await Promise.all([
    patient(noticeLink).toContainText(fill(texts.chat.incoming, { name: "Cléo", text: "On mange à huit heures" })),
    patient(noticeLink).toHaveAccessibleName(nameOf(1)),
    write("On mange à huit heures"),
  ]);
  const noticeText = `${fill(texts.notifier.from, { name: "Cléo" })}. On mange à huit heures`;
  await expect(screen.getByRole("status").getByText(noticeText)).toBeAttached();
  await expectApart(noticeLink, screen.getByRole("timer"), ...(await screen.getByRole("button").all()));
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findAxeViolations(page)).toEqual([]);
  }
  await patient(noticeLink).not.toContainText("huit heures"); // only its number stays
  await write("Apporte du pain");
  await patient(noticeLink).toHaveAccessibleName(nameOf(2));

  // Nobody has read it, and the call shows no notice for the chat that is open.
  await callControl(anas, "minimise").click();
  await anas.goToTab("masolo");
  await expect(anas.conversation("Cléo")).toContainText("2");
  await restore.click();
  await expect(screen).toBeVisible();
  await expect(noticeLink).toHaveCount(0);

  // Without a preview it shows no text.
  await callControl(anas, "minimise").click();
  await page.getByRole("link", { name: texts.shell.myProfile }).click();
  await page.getByRole("link", { name: texts.settings.notifications.title }).click();
  const { levels } = texts.settings.notifications;
  const nameOnly = page.getByRole("radio", { name: levels.name, exact: true }).first(); // of messages, before groups
  await nameOnly.press("Space");
  await expect(nameOnly).toBeChecked();
  await restore.click();
  await expect(screen).toBeVisible();
  await write("secret");
  await patient(noticeLink).toContainText(fill(texts.chat.incoming, { name: "Cléo", text: texts.notifier.newMessage }));
  await expect(screen).not.toContainText("secret");

  await noticeLink.click();
  await expect(page).toHaveURL(`/app/chat/${cleo.id}`);
  await expect(screen).toHaveCount(0);
  await expect(anas.message("secret")).toBeVisible();
  await expect(anas.composer()).toBeFocused();
  await restore.click();
  await expect(noticeLink).toHaveCount(0);

  // On a small phone with the largest text the own video covers neither the name nor the time.
  await callControl(anas, "hangUp").click();
  await patient(callScreen(bens, ana)).toHaveCount(0);
  await page.evaluate(() => localStorage.setItem("appearance", "larger"));
  await anas.openChat(ben.id);
  const own = screen.getByRole("button", { name: texts.calls.preview });
  const timer = screen.getByRole("timer");
  const expectClear = async () => {
    await expectApart(own, screen.getByRole("heading"), callControl(anas, "hangUp"));
    if ((await timer.count()) === 0) return; // not connected yet
    await expectApart(own, timer);
    await expect.poll(() => timer.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
    await expect(timer).toBeInViewport({ ratio: 1 });
  };

  await placeCall(anas, ben, "video");
  await page.setViewportSize({ width: 320, height: 480 });
  await patient(own).toBeVisible();
  await expectClear();
  await expectApart(own, screen.getByText(texts.calls.status.outgoingRings).last());
  await callControl(bens, "accept").click();
  await expectSeeing(anas, bens);
  await expectClear();
  await callControl(bens, "camera").click();
  await patient(screen.getByText(fill(texts.calls.notice.peerCameraOff, { name: ben.username }))).toBeVisible();
  await expectClear();
  // Wherever it is placed.
  for (let corner = 0; corner < 4; corner++) {
    await own.click();
    await expect(own).toBeInViewport({ ratio: 1 });
  }
  for (const phone of [anas, bens]) await phone.close();
});
