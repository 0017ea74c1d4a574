import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";

type DrawnText = {
  text: string | undefined;
  links: (string | null)[];
  formats: (string | null)[];
  /** Edge of the bubble that each line begins at, and the time's. */
  edges: string[];
  heightPx: number;
};

/** Texts of a chat's bubbles as they are drawn, oldest first. */
const readDrawnTexts = (page: Page): Promise<DrawnText[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("li bdi.whitespace-pre-wrap")].map((text) => {
      const bubble = text.closest(".overflow-hidden")?.getBoundingClientRect() ?? new DOMRect();
      const toEdge = ({ left, right }: { left: number; right: number }) => {
        const roomPx = left - bubble.left - (bubble.right - right);
        return Math.abs(roomPx) < 2 ? "both" : roomPx < 0 ? "left" : "right";
      };
      const lines = new Map<number, { left: number; right: number }>();
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const { bottom, left, right, width } of range.getClientRects()) {
        if (width === 0) continue;
        const key = Math.round(bottom / 8);
        const line = lines.get(key) ?? { left, right };
        lines.set(key, { left: Math.min(left, line.left), right: Math.max(right, line.right) });
      }
      const time = text.closest("li")?.querySelector("time")?.parentElement?.getBoundingClientRect();
      return {
        text: text.textContent ?? undefined,
        links: [...text.querySelectorAll("a")].map((link) => link.getAttribute("href")),
        formats: [...text.querySelectorAll("strong, em, s, code")].map((format) => format.textContent),
        edges: [...lines.values(), ...(time ? [time] : [])].map(toEdge),
        heightPx: Math.round(bubble.height),
      };
    }),
  );

test("a text is drawn alike before and after the app has loaded: direction, links, formats and marks of the document's template", async ({
  browser,
  server,
}) => {
  const wide = "Bonjour à vous tous xxxx";
  const expected: { text: string; shown?: string; edges?: string[]; links?: string[]; formats?: string[] }[] = [
    { text: `سلام👋\n${wide}\nOui\nمرحبا (1)`, edges: ["right", "both", "left", "right", "left"] },
    { text: `مرحبا\n${wide}\n12`, edges: ["right", "both", "left", "right"] },
    { text: `Oui\nمرحبا\n${wide}\n12`, edges: ["left", "right", "both", "left", "right"] },
    {
      text: `https://example.org/a سلام\n${wide}`,
      edges: ["right", "both", "right"],
      links: ["https://example.org/a"],
    },
    { text: "Tapez *150* ou *144*1#, puis *oui*", shown: "Tapez *150* ou *144*1#, puis oui", formats: ["oui"] },
    { text: "C:\\Users\\_x_\\*.txt" },
    { text: "https://example.org/{a}", links: ["https://example.org/%7Ba%7D"] },
    { text: "https://example.org。", links: ["https://example.org/"] },
    { text: "%data% %view% %css% $& <b>gras</b>" }, // marks of the document's template
  ];
  const { ana, ben } = await makeChat(
    toSite(server),
    5200,
    expected.map(({ text }) => text),
  );
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(page).getByRole("listitem")).toHaveCount(expected.length);
  const before = await readDrawnTexts(page);
  expect(before.map(({ text }) => text)).toEqual(expected.map(({ text, shown }) => shown ?? text));
  for (const [index, { edges, links, formats }] of expected.entries()) {
    const drawn = before[index];
    expect(drawn).toMatchObject({ links: links ?? [], formats: formats ?? [], ...(edges && { edges }) });
  }
  // The app takes its data from the document.
  const readData = () =>
    page.evaluate(() => JSON.parse(document.getElementById("first-data")?.textContent ?? "") as unknown);
  await expect(async () => expect(await readData()).toMatchObject({ user: ben.id })).toPass(); // the page is being parsed
  release();
  await waitForTakeover(page);
  expect(await readDrawnTexts(page)).toEqual(before);
  await client.close();
});
