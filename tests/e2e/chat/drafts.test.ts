import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, signInAgain } from "#tests/support/people/people.ts";

test("a draft follows its person to another device and ends when it is sent, and the words of an edit survive", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7140, "Ana Mbuyi"), await makePerson(site, 7141, "Ben")];
  await connectPeople(site, ana, ben);
  const phone = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const laptop = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  await phone.signInToChat(ana, ben.id);
  await laptop.signIn(await signInAgain(site, ana));
  await laptop.openChat(ben.id);

  const readDrafts = async () =>
    JSON.stringify((await callSite(site, "GET", "/api/drafts?since=0", { token: ana.token })).body);

  // From one device to the other and back, into open fields.
  await phone.composer().fill("Rendez-vous");
  await expect(laptop.composer()).toHaveValue("Rendez-vous");
  await laptop.composer().fill("Rendez-vous demain");
  await expect(phone.composer()).toHaveValue("Rendez-vous demain");
  await phone.composer().press("Enter");
  await expect(laptop.composer()).toHaveValue("");

  // Two texts that do not know each other: the later one wins, the other is kept where it was written.
  await phone.context.setOffline(true);
  await phone.composer().fill("du téléphone");
  await laptop.composer().fill("do");
  await expect.poll(readDrafts).toContain('"do"'); // some seconds later
  await laptop.composer().fill("do computador");
  await phone.context.setOffline(false);
  const kept = phone.page.getByRole("region", { name: phone.texts.chat.keptText });
  await expect(phone.composer()).toHaveValue("do computador");
  await expect(kept).toContainText("du téléphone");
  await kept.getByRole("button", { name: phone.texts.chat.discardKeptText }).click();
  await expect(kept).toHaveCount(0);
  await phone.page.getByRole("button", { name: phone.texts.masolo.undo, exact: true }).click();
  await expect(kept).toContainText("du téléphone");
  await kept.getByRole("button", { name: phone.texts.chat.restoreKeptText }).press("Enter");
  await expect(phone.composer()).toHaveValue("do computador\ndu téléphone");
  await expect(kept).toHaveCount(0);
  await expect(phone.composer()).toBeFocused();
  await phone.composer().fill("");
  await expect(laptop.composer()).toHaveValue("");

  // An edit over a reload, until its message is deleted on the other device.
  const { page, texts } = phone;
  const field = page.getByRole("textbox", { name: texts.chat.editTitle });
  await phone.composer().press("ArrowUp");
  await field.fill("Rendez-vous lundi");
  await page.reload();
  await expect(field).toHaveValue("Rendez-vous lundi");
  const deleteOnLaptop = async (words: string) => {
    const message = laptop.page.getByRole("main").locator("bdi.whitespace-pre-wrap").getByText(words);
    await message.click({ button: "right" });
    await laptop.page.getByRole("menuitem", { name: laptop.texts.common.delete, exact: true }).click();
    await laptop.page
      .getByRole("alertdialog")
      .getByRole("button", { name: laptop.texts.messages.deleteForAll })
      .click();
  };
  await deleteOnLaptop("Rendez-vous demain");
  await expect(kept).toContainText("Rendez-vous lundi");
  // Several unsent texts: the newest first, below their number.
  await phone.write("Autre message");
  await phone.composer().press("ArrowUp");
  await field.fill("Autre texte");
  await deleteOnLaptop("Autre message");
  await expect(kept.getByRole("heading")).toHaveText(fill(texts.chat.keptTexts_other, { count: 2 }));
  await expect(kept.locator("bdi")).toHaveText(["Autre texte", "Rendez-vous lundi"]);
});

test("in two tabs nothing that was typed is overwritten", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7142, "Ana Mbuyi"), await makePerson(site, 7143, "Ben")];
  await connectPeople(site, ana, ben);
  const phone = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
    "en",
  );
  await phone.signInToChat(ana, ben.id);
  const other = await phone.context.newPage();
  await phone.openChat(ben.id, other);
  const [one, two] = [phone.composer(), phone.composer(other)];

  // The second tab was typed in just before, so it does not show the long text at once.
  await two.pressSequentially("a");
  await expect(one).toHaveValue("a");
  await one.pressSequentially("Un long texte important");
  await expect(two).toHaveValue(await one.inputValue());
  await two.press("End");
  await two.pressSequentially(" suite");
  await expect(one).toHaveValue(await two.inputValue());
  expect(await one.inputValue()).toContain("Un long texte important");

  // Both at once: one text is kept, or follows the other in the field if that was shown in time.
  await one.fill("");
  await expect(two).toHaveValue("");
  await one.pressSequentially("premier");
  await two.pressSequentially("second");
  const kept = phone.page.getByRole("region", { name: phone.texts.chat.keptText });
  await expect
    .poll(async () => [await one.inputValue(), ...(await kept.locator("bdi").allInnerTexts())].join(" "))
    .toMatch(/(?=.*premier)(?=.*second)/u);
  await phone.context.close();
});
