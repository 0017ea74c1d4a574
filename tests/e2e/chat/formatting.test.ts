import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

const barOf = ({ page, texts }: TestClient) => page.getByRole("group", { name: texts.chat.format.title });

test("a text formatted by keys arrives formatted, is listed without markers and is edited with them", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 8841, "Ana Mbuyi"), await makePerson(site, 8842, "Ben")];
  await connectPeople(site, ana, ben);
  const anas = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  const bens = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const { page, texts } = anas;
  let finishLoading = () => {};
  const loading = new Promise<void>((resolve) => {
    finishLoading = resolve;
  });
  await page.route("**/assets/composer-*.js", async (route) => {
    await loading;
    await route.continue();
  });
  await anas.signIn(ana, `/app/chat/${ben.id}`);
  await bens.signIn(ben, "/app");
  const field = anas.composer();

  // What is typed while the code is loading belongs to the format.
  await field.fill("Rendez-vous ");
  await page.keyboard.press("Control+b");
  await page.keyboard.type("dem");
  finishLoading();
  await expect(field).toHaveValue("Rendez-vous *dem*");
  await page.keyboard.type("ain");
  await expect(field).toHaveValue("Rendez-vous *demain*");
  await page.keyboard.press("Control+b");
  await page.keyboard.type(" soir");
  await expect(field).toHaveValue("Rendez-vous *demain* soir");
  for (let n = 0; n < " soir".length; n++) await page.keyboard.press("Backspace");
  await field.evaluate((textArea: HTMLTextAreaElement) => textArea.setSelectionRange(13, 19));
  await page.keyboard.press("Control+i");
  await expect(field).toHaveValue("Rendez-vous *_demain_*");
  await page.keyboard.press("Control+i");
  await page.keyboard.press("Control+Shift+X");
  await expect(field).toHaveValue("Rendez-vous *~demain~*");
  await page.keyboard.press("Control+z");
  await expect(field).toHaveValue("Rendez-vous *demain*");
  await page.keyboard.press("End");
  await page.keyboard.type(" à `8_h_30`");
  await page.keyboard.press("Enter");

  await expect(bens.page.getByText("Rendez-vous demain à 8_h_30")).toBeVisible();
  await bens.page.getByText("Rendez-vous demain à 8_h_30").click();
  const arrived = bens.page.getByRole("main").getByRole("listitem").filter({ hasText: "Rendez-vous" });
  await expect(arrived.getByRole("strong")).toHaveText("demain");
  await expect(arrived.getByRole("code")).toHaveText("8_h_30");

  await expect(field).toHaveValue("");
  await page.keyboard.press("ArrowUp");
  const edited = page.getByRole("textbox", { name: anas.texts.chat.editTitle });
  await expect(edited).toHaveValue("Rendez-vous *demain* à `8_h_30`");
  await edited.press("Control+a");
  await edited.press("Control+e");
  await expect(edited).toHaveValue("`Rendez-vous *demain* à `8_h_30``");
  await page.keyboard.press("Escape");

  // Without a keyboard: buttons above the selected text.
  const bar = barOf(anas);
  await field.fill("pain\nsel");
  await expect(bar).toHaveCount(0);
  await field.press("Shift+Home");
  await bar.getByRole("button", { name: texts.chat.format.bold }).click();
  await expect(field).toHaveValue("pain\n*sel*");
  await field.press("Control+a");
  await expect(bar).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(bar.getByRole("button", { name: texts.chat.format.bold })).toBeFocused();
  await bar.getByRole("button", { name: texts.chat.format.list }).press("Enter");
  await expect(field).toHaveValue("- pain\n- *sel*");
  await expect(bar).toBeVisible();
  await field.press("End");
  await expect(bar).toHaveCount(0);
  await bens.composer().fill("riz");
  await bens.composer().press("Control+a");
  await barOf(bens).getByRole("button", { name: bens.texts.chat.format.italic }).click();
  await expect(bens.composer()).toHaveValue("_riz_");
  await anas.context.close();
  await bens.context.close();
});
