import { presencePollMs } from "#contract/limits/people.ts";
import type { SettingsChange } from "#contract/settings/settings.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { openPair } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";

test("with read receipts off neither of two people sees what is read; a chat shows whether the other is online and when last, and nothing of people who hide it", async ({
  browser,
  server,
}) => {
  const { site, people, phones } = await openPair(browser, server, 9500);
  const [ana, ben] = people;
  const [anas, bens] = phones;
  const { presence } = anas.texts.chat;
  /** Changes Ben's settings. */
  const change = (body: SettingsChange) => callSite(site, "PATCH", "/api/settings", { token: ben.token, body });
  const heading = anas.page.getByRole("link", { name: ben.username });
  const openAgain = async () => {
    await anas.openRoute("/app");
    await expect(anas.composer()).toHaveCount(0);
    await anas.openRoute(`/app/chat/${ben.id}`);
    await expect(anas.composer()).toBeVisible();
  };

  await anas.write("vu");
  await expect(anas.ticks("vu", "read")).toBeVisible();
  await change({ receipts: false });

  await anas.write("sans être vu");
  await expect(bens.message("sans être vu")).toBeVisible();
  await bens.write("réponse");
  await expect(anas.message("réponse")).toBeVisible();
  // Both have read everything: a reply has made the round trip.
  await anas.write("encore");
  await expect(bens.message("encore")).toBeVisible();
  await expect(anas.ticks("sans être vu", "delivered")).toBeVisible();
  await expect(bens.ticks("réponse", "delivered")).toBeVisible();
  await expect(anas.ticks("vu", "read")).toBeVisible();

  await change({ receipts: true });
  await anas.write("de nouveau");
  await expect(anas.ticks("de nouveau", "read")).toBeVisible();
  await bens.write("de nouveau aussi");
  await expect(bens.ticks("de nouveau aussi", "read")).toBeVisible();

  await openAgain();
  await expect(heading).toContainText(presence.here);
  expect(await findAxeViolations(anas.page)).toEqual([]);

  // Offline, the presence is unknown; it is shown again when the network returns.
  await anas.context.setOffline(true);
  await expect(anas.page.getByText(anas.texts.shell.link.offline)).toBeVisible();
  await expect(heading).not.toContainText(presence.here);
  await anas.context.setOffline(false);
  await expect(heading).toContainText(presence.here);

  await bens.close();
  // The server notices after its timeout, and is asked each time the chat is opened.
  await expect(async () => {
    await openAgain();
    await expect(heading).toContainText(fill(presence.today, { time: "" }), { timeout: 5_000 });
  }).toPass();
  await expect(heading).toContainText(/\d\d:\d\d/);
  expect(await findAxeViolations(anas.page)).toEqual([]);

  const again = await TestClient.open(browser, server, "pt");
  await again.signInToChat(ben, ana.id);
  await expect(again.page.getByRole("link", { name: ana.username })).toContainText(again.texts.chat.presence.here);
  await openAgain();
  await expect(heading).toContainText(presence.here);
  await change({ presence: false });
  // Long before the open chat would ask again.
  await expect(heading).not.toContainText(presence.here, { timeout: presencePollMs / 6 });
  // A person who hides their presence sees nobody's, immediately, and nobody sees theirs.
  await expect(again.page.getByRole("link", { name: ana.username })).not.toContainText(again.texts.chat.presence.here);
  const presenceFrame = new Promise<void>((resolve) => {
    anas.page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => String(payload).startsWith('["L",') && resolve()),
    );
  });
  await anas.openChat(ben.id);
  await presenceFrame;
  await expect(heading).not.toContainText(presence.here);
  await again.close();
  await anas.close();
});
