import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { toSite } from "#tests/support/people/pair.ts";

test("a text typed in the first view of a full device is in the field once there is room again", async ({
  browser,
  server,
}) => {
  const { ana, ben } = await makeChat(toSite(server), 7706, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const devtools = await client.context.newCDPSession(page);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: server.origin, quotaSize: 1 });
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("à moitié écrit");
  release();
  const noRoom = page.getByText(client.texts.errors.no_room, { exact: true });
  for (let n = 0; n < 2; n++) {
    await expect(noRoom).toBeVisible({ timeout: 30_000 });
    await expect(client.composer(page)).toHaveCount(0);
    await page.waitForTimeout(1_000); // a draft is stored after a pause in typing
    if (n === 0) await page.reload({ waitUntil: "commit" });
  }
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: server.origin });
  await page.reload({ waitUntil: "commit" });
  await expect(firstView(page)).toHaveCount(0);
  await expect(client.composer(page)).toHaveValue("à moitié écrit");
});
