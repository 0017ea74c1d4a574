import { readAttachmentDrafts } from "#tests/support/browser/attachment-drafts.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const atLeastTwoSeconds = /0:(0[2-9]|[1-5]\d)/;
const openMs = 30_000; // by its address, on a client that has received nothing yet

test("what was recorded, chosen and captioned when its group disappeared is available until it is discarded", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9340, "Ana Mbuyi");
  const ben = await makePerson(site, 9341, "Ben");
  await connectPeople(site, ana, ben);
  const id = await makeGroup(site, ana, "Famille", [ben]);
  const members = `/api/groups/${id}/members`;
  const remove = async () => {
    const { status } = await callSite(site, "DELETE", `${members}/${ben.id}`, { token: ana.token });
    expect(status).toBe(204);
  };
  const bens = await TestClient.open(browser, server, "en");
  const { page, texts } = bens;
  await bens.signIn(ben, `/app/group/${id}`);
  await expect(bens.composer()).toBeVisible({ timeout: openMs });
  const voice = page.getByRole("region", { name: texts.chat.voice.kept });
  const note = page.getByText(texts.groups.chat.leftNote);

  // A voice message that is still being recorded ends and is kept.
  await page.getByRole("button", { name: texts.chat.voice.record }).press("Enter");
  await expect(page.getByRole("timer")).toHaveText(atLeastTwoSeconds);
  await remove();
  await expect(note).toBeVisible();
  await expect(page.getByRole("timer")).toHaveCount(0);
  await expect(voice).toContainText(atLeastTwoSeconds);
  await voice.getByRole("button", { name: texts.chat.voice.play, exact: true }).click();
  await expect(voice.getByRole("button", { name: texts.chat.voice.pause, exact: true })).toBeVisible();
  const saved = page.waitForEvent("download");
  await voice.getByRole("button", { name: texts.messages.save, exact: true }).click();
  expect((await saved).suggestedFilename()).toMatch(/^voice .*\.webm$/);

  // A member who is added again finds it in the composer.
  const back = await callSite(site, "POST", members, { token: ana.token, body: { members: [ben.id] } });
  expect(back.status).toBe(200);
  await page.getByRole("button", { name: texts.chat.voice.discard }).click({ trial: true });
  await expect(page.getByRole("button", { name: texts.chat.voice.send })).toBeVisible();
  await page.getByRole("button", { name: texts.chat.voice.discard }).click();
  await expect(bens.composer()).toBeVisible();

  // Files in their sheet, with a caption typed a moment ago.
  const photo = await makePicture(page, "fête.jpg", { width: 300, height: 200, type: "image/jpeg" });
  const chooser = page.waitForEvent("filechooser");
  await bens.attach("image");
  await (await chooser).setFiles([photo]);
  const sheet = page.getByRole("dialog");
  // Files chosen in another tab at the same time are kept as well.
  const tab = await bens.context.newPage();
  await tab.goto(`/app/group/${id}`);
  await expect(bens.composer(tab)).toBeVisible({ timeout: openMs });
  const second = tab.waitForEvent("filechooser");
  await bens.attach("file", tab);
  await (await second).setFiles([{ name: "deux.txt", mimeType: "text/plain", buffer: Buffer.from("deux") }]);
  await expect(tab.getByRole("dialog")).toBeVisible();
  await expect.poll(async () => (await readAttachmentDrafts(tab)).length).toBe(2);
  await sheet.getByRole("textbox").fill("Maman à la fête");
  await remove();
  await expect(tab.getByRole("dialog")).toHaveCount(0); // its sheet names the file, too
  await expect(tab.getByText("deux.txt", { exact: true })).toBeVisible();
  await tab.close();
  await expect(note).toBeVisible();
  await expect(sheet).toHaveCount(0);
  await expect(page.getByText("Maman à la fête")).toBeVisible();
  await expect(page.getByText("deux.txt", { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByText("Maman à la fête")).toBeVisible();
  await expect(
    page.getByRole("button", { name: fill(texts.groups.chat.copyCaption, { name: photo.name }) }),
  ).toBeVisible();
  const file = page.waitForEvent("download");
  await page.getByRole("link", { name: fill(texts.messages.saveFile, { name: photo.name }) }).click();
  expect((await file).suggestedFilename()).toBe(photo.name);
  expect(await findAxeViolations(page)).toEqual([]);

  // Its row leads to it; the history stays when nothing unsent is left.
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(bens.conversation("Famille")).toContainText(fill(texts.groups.events.removedMe, { name: ana.username }));
  await bens.conversation("Famille").click();
  await page.getByRole("button", { name: texts.chat.attach.discardConfirm, exact: true }).click();
  await page
    .getByRole("alertdialog")
    .getByRole("button", { name: texts.chat.attach.discardConfirm, exact: true })
    .click();
  await expect(page.getByText(texts.groups.chat.notMember)).toBeVisible();
  await expect.poll(() => readAttachmentDrafts(page)).toEqual([]);
  await bens.close();
});
