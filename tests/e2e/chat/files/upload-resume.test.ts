import { partCount } from "#contract/files.ts";
import { filePartBytes } from "#contract/limits/files.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";
import { expectPartsOnce } from "#tests/support/server/parts-log.ts";
import { startSlowProxy } from "#tests/support/server/slow-proxy.ts";

const size = 39 * filePartBytes + 1_000;
const report = { name: "rapport.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(size, "%PDF-1.4 rapport\n") };
const beforeTheCut = 3;
const slow = 256 * 1024; // bytes a second: twenty seconds for the whole file
const crawling = 64 * 1024; // the rest then takes a minute, however busy the machine is
const quick = 16 * 1024 * 1024;

const fileIn = ({ page }: TestClient, of = page) =>
  of.getByRole("main").getByRole("listitem").filter({ hasText: report.name });

test("an upload whose page dies continues in the next page, and texts do not wait for it", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 3480);
  const [ana, ben] = people;
  const link = await startSlowProxy(server, quick);
  try {
    const anas = await TestClient.open(browser, { ...server, origin: link.origin });
    await anas.signInToChat(ana, ben.id);
    const arrived = () => readServerTexts(site, ben, conversation);
    const { texts, context } = anas;

    const chooser = anas.page.waitForEvent("filechooser");
    await anas.attach("file");
    await (await chooser).setFiles(report);
    link.bytesPerSecond = slow;
    await anas.page.getByRole("dialog").getByRole("button", { name: texts.chat.send, exact: true }).click();
    await expect(fileIn(anas)).toBeVisible();
    await expect.poll(() => link.parts.finished.size).toBeGreaterThanOrEqual(beforeTheCut);
    link.bytesPerSecond = crawling;
    await anas.write("écrit après");
    await expect.poll(arrived).toEqual(["écrit après"]);
    await anas.page.close();
    expect(link.parts.finished.size).toBeLessThan(partCount(size));

    link.bytesPerSecond = quick;
    const page = await context.newPage();
    const fetched: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "GET" && /conversations\/[^/]+\/files/.test(request.url())) fetched.push(request.url());
    });
    await anas.openChat(ben.id, page);
    // Three dozen parts, on a machine that may be busy.
    await expect.poll(arrived, { timeout: 40_000 }).toEqual(["écrit après", "<file>"]);
    await expect(fileIn(anas, page).getByRole("img", { name: texts.chat.status.sent, exact: true })).toBeVisible();
    expectPartsOnce(link.parts, size);
    // The sender has it locally.
    expect(fetched).toEqual([]);
    await anas.close();
  } finally {
    await link.stop();
  }
});
