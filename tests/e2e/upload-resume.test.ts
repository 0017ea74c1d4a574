import { partCount } from "../../contract/files";
import { filePartBytes } from "../../contract/limits";
import { expect, test } from "../support/browser-test";
import { openPair } from "../support/pair";
import type { Phone } from "../support/phone";

test.describe.configure({ timeout: 180_000 }); // several phones on a machine that may be busy

const size = 9 * filePartBytes + 1_000;
const report = { name: "rapport.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(size, "%PDF-1.4 rapport\n") };
const beforeTheCut = 3;

/** How often the server took each part. */
const countParts = ({ context }: Phone): Map<string, number> => {
  const taken = new Map<string, number>();
  context.on("response", (response) => {
    const path = new URL(response.url()).pathname;
    if (path.includes("/parts/") && response.ok()) taken.set(path, (taken.get(path) ?? 0) + 1);
  });
  return taken;
};

const fileIn = ({ page }: Phone, of = page) =>
  of.getByRole("main").getByRole("listitem").filter({ hasText: report.name });

test("a file whose page dies in the middle goes on from there in the next one, and texts do not wait for it", async ({
  browser,
  server,
}) => {
  const { people, phones } = await openPair(browser, server, 3480);
  const [anas, bens] = phones;
  const [, ben] = people;
  const { texts, context } = anas;
  const taken = countParts(anas);
  let left = beforeTheCut;
  await context.route("**/parts/*", (route) => (left-- > 0 ? route.continue() : route.abort("internetdisconnected")));

  const chooser = anas.page.waitForEvent("filechooser");
  await anas.page.getByRole("button", { name: texts.chat.attach.file, exact: true }).click();
  await (await chooser).setFiles(report);
  await anas.page.getByRole("dialog").getByRole("button", { name: texts.chat.send, exact: true }).click();
  await expect(fileIn(anas)).toBeVisible();
  await expect.poll(() => taken.size).toBe(beforeTheCut);
  await anas.write("écrit après");
  await expect(bens.message("écrit après")).toBeVisible();
  await expect(fileIn(bens)).toHaveCount(0);

  await anas.page.close();
  await context.unroute("**/parts/*");
  const page = await context.newPage();
  const fetched: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "GET" && /conversations\/[^/]+\/files/.test(request.url())) fetched.push(request.url());
  });
  await anas.openChat(ben.id, page);
  await expect(fileIn(bens)).toBeVisible();
  await expect(fileIn(anas, page).getByRole("img", { name: texts.chat.status.read, exact: true })).toBeVisible();
  expect([...taken.values()]).toEqual(Array<number>(partCount(size)).fill(1));
  // Who sent it has it.
  expect(fetched).toEqual([]);
});
