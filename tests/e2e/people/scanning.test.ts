import { tmpdir } from "node:os";
import { join } from "node:path";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { instrumentDevices } from "#tests/support/browser/call-devices.ts";
import { filmPhoto, photographCode } from "#tests/support/browser/code-camera.ts";
import type { MadeFile } from "#tests/support/browser/media.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { setVisibility } from "#tests/support/browser/visibility.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";
import { drawQrCode } from "#worker/lib/qr-code.ts";

const video = join(tmpdir(), `lisolo-code-${process.pid}.y4m`);

test.use({
  launchOptions: async ({ launchOptions }, use) =>
    use({ ...launchOptions, args: [...(launchOptions.args ?? []), `--use-file-for-fake-video-capture=${video}`] }),
});

const drawCode = (text: string): string => `data:image/svg+xml;utf-8,${encodeURIComponent(drawQrCode(text))}`;
const countOpenCameras = ({ page }: TestClient): Promise<number> =>
  page.evaluate(() => window.devices.open("video").length);

test("a person scans another's QR code from phone to phone, and from a picture where the camera is refused", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_211), await makePerson(site, 9_212)];
  const [anas, bens] = [await TestClient.open(browser, server), await TestClient.open(browser, server)];
  const { page } = bens;
  await instrumentDevices(page);
  await anas.signIn(ana);
  await bens.signIn(ben);

  /** Creates the code of the first person and photographs it. */
  const photographNewCode = async (): Promise<MadeFile> => {
    const { link } = anas.texts.handle;
    await anas.goTo("/app/handle");
    await anas.page.getByRole("button", { name: link.create }).click();
    const code = anas.page.getByRole("img", { name: link.qr });
    return photographCode(anas.page, (await code.getAttribute("src")) ?? "");
  };
  /** The code was scanned: requests and accepts the contact. */
  const connect = async () => {
    const { senga } = bens.texts;
    const owner = page.getByRole("list", { name: senga.results });
    await expect(owner.getByText(ana.username)).toBeVisible();
    expect(await countOpenCameras(bens)).toBe(0);
    await owner.getByRole("button", { name: senga.add }).click();
    await anas.goToTab("senga");
    await anas.page.getByRole("button", { name: anas.texts.senga.accept }).click();
    await expect(owner.getByRole("link", { name: senga.message })).toBeVisible();
  };

  const { texts } = bens;
  const photo = await photographNewCode();
  await bens.goTo("/app/senga");

  await test.step("a code of something else is shown and not opened, and the camera is switched off", async () => {
    const text = `${server.origin}.example.org/u/${"A".repeat(22)}`;
    await filmPhoto(page, await photographCode(page, drawCode(text)), video);
    await page.getByRole("button", { name: texts.senga.scan }).click();
    await expect(page.getByRole("alert").getByText(text)).toBeVisible();
    await expect(page.getByRole("link", { name: text })).toHaveCount(0);
    expect(new URL(page.url()).pathname).toBe("/app/senga/scan");
    expect(await countOpenCameras(bens)).toBe(0);
    await expect(page.getByRole("button", { name: texts.scan.again })).toBeFocused();
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  });

  await test.step("the camera is off while the page is hidden", async () => {
    await filmPhoto(page, await photographCode(page, drawCode("")), video);
    await page.keyboard.press("Enter");
    await expect(page.getByText(texts.scan.aim)).toBeVisible();
    expect(await countOpenCameras(bens)).toBe(1);
    await setVisibility(bens, "hidden");
    await expect.poll(() => countOpenCameras(bens)).toBe(0);
    await filmPhoto(page, photo, video);
    await setVisibility(bens, "visible");
  });

  await test.step("the code of a person opens their page; the request connects both", async () => {
    await connect();
    await page.goBack();
    await page.waitForURL("**/app/senga");
  });

  for (const [error, problem] of [
    ["NotFoundError", texts.scan.problems.absent],
    ["NotReadableError", texts.scan.problems.busy],
    ["NotAllowedError", texts.scan.problems.denied],
  ] as const) {
    await test.step(`the page names the problem of the camera: ${error}`, async () => {
      await page.evaluate((error) => {
        window.devices.refused["video"] = error;
      }, error);
      if (page.url().endsWith("/app/senga/scan")) await page.getByRole("button", { name: texts.common.retry }).click();
      else await page.getByRole("button", { name: texts.senga.scan }).click();
      await expect(page.getByRole("alert").getByText(problem)).toBeVisible();
    });
  }

  await test.step("a picture of the code is read without the camera", async () => {
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
    const choice = page.locator('input[type="file"]');
    await choice.setInputFiles({ name: "note.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
    await expect(page.getByText(texts.scan.noPicture)).toBeVisible();
    await choice.setInputFiles(await photographCode(page, drawCode("Mbote")));
    await expect(page.getByRole("alert").getByText("Mbote")).toBeVisible();
    await choice.setInputFiles(photo);
    await expect(page.getByRole("list", { name: texts.senga.results }).getByText(ana.username)).toBeVisible();
  });

  await test.step("leaving the page while the camera opens switches it off", async () => {
    await page.goBack();
    await page.evaluate(() => delete window.devices.refused["video"]);
    await page.getByRole("button", { name: texts.senga.scan }).click();
    await page.goBack();
    await page.waitForURL("**/app/senga");
    await expect.poll(() => countOpenCameras(bens)).toBe(0);
  });
});
