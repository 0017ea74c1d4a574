import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

test("emoji are inserted at the caret, in the skin tone of the person, and offered again among the recent ones", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 8871, "Ana Mbuyi"), await makePerson(site, 8872, "Ben")];
  await connectPeople(site, ana, ben);
  const id = await makeGroup(site, ana, "Famille", [ben]);
  const client = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  await client.signIn(ana, `/app/group/${id}`);
  const { page, texts } = client;
  const field = page.getByRole("main").getByRole("textbox");
  const findButton = () => page.getByRole("button", { name: client.texts.reactions.choose, exact: true });
  const findPanel = () => page.getByRole("dialog", { name: client.texts.reactions.choose });
  const [button, panel] = [findButton(), findPanel()];

  // One row: plus, field with the emoji button at its end, microphone.
  const rows = [
    page.getByRole("button", { name: texts.chat.attach.menu, exact: true }),
    field,
    button,
    page.getByRole("button", { name: texts.chat.voice.record }),
  ];
  const boxes = await Promise.all(rows.map((one) => one.boundingBox()));
  expect(new Set(boxes.map((box) => box && Math.round(box.y + box.height))).size).toBe(1);

  await field.fill("On y va");
  await field.press("Home");
  await button.click();
  await panel.getByRole("button", { name: texts.reactions.skinTone }).click();
  await panel.getByRole("button", { name: texts.reactions.tones.medium, exact: true }).click();
  await panel.getByRole("searchbox").fill("pouce vers le haut");
  await panel.getByRole("searchbox").press("Enter");
  await expect(field).toHaveValue("👍🏽On y va");
  await panel.getByRole("button", { name: texts.common.clear }).click();
  await panel.getByRole("button", { name: "visage rieur", exact: true }).click();
  await expect(field).toHaveValue("👍🏽😀On y va");
  expect(await findAxeViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  await expect(field).toBeFocused();
  await button.click();
  await page.goBack();
  await expect(panel).toHaveCount(0);
  await expect(field).toHaveValue("👍🏽😀On y va");

  // A phone that is turned: the panel stays below the header.
  await page.setViewportSize({ width: 740, height: 360 });
  await findButton().click();
  const header = await page.getByRole("main").locator("header").first().boundingBox();
  const search = await findPanel().getByRole("searchbox").boundingBox();
  expect(search?.y).toBeGreaterThan((header?.y ?? 0) + (header?.height ?? 0));
  await findPanel().getByRole("searchbox").fill("fusée");
  await findPanel().getByRole("searchbox").press("Enter");
  await expect(field).toHaveValue("👍🏽😀🚀On y va");
  await page.keyboard.press("Escape");

  // Recent ones are there after a reload in another language, beside the field on a wide screen.
  await page.setViewportSize({ width: 1280, height: 800 });
  await client.switchLanguage("en");
  await page.reload();
  await expect(field).toHaveValue("👍🏽😀🚀On y va");
  await findButton().click();
  const recent = findPanel().getByRole("region", { name: client.texts.reactions.groups.recent });
  await expect(recent.getByRole("button")).toHaveText(["🚀", "😀", "👍🏽"]);
  await field.click();
  await expect(findPanel()).toHaveCount(0);

  // Styles that came after those of the app decide: the sheet for files does not cover a wide screen.
  await page.locator('input[data-attach="file"]').setInputFiles({
    name: "liste.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("pain"),
  });
  const sheet = page.getByRole("dialog");
  await expect.poll(async () => (await sheet.boundingBox())?.width).toBe(576);
  await sheet.getByRole("button", { name: client.texts.reactions.choose, exact: true }).click();
  await findPanel().getByRole("button", { name: "grinning face", exact: true }).first().click();
  await expect(sheet.getByRole("textbox")).toHaveValue("😀");
  await client.close();
});
