import type { Browser, BrowserContextOptions, Page } from "@playwright/test";
import { rgbaToThumbHash } from "thumbhash";
import { type ConversationId, privateConversationId } from "#contract/ids.ts";
import { makePicture, makeSound, sendAttachment } from "#tests/support/people/attachments.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";
import { TestClient } from "./test-client.ts";

const thumb = Buffer.from(rgbaToThumbHash(2, 2, new Uint8Array(16).fill(200))).toString("base64url");
const waveform = "AZaz09_-".repeat(6);
export const reportName = "Rapport du mois.pdf";
export const report = Buffer.from(`%PDF-1.4\n${"ligne du rapport\n".repeat(2_000)}`);

export const sendPicture = (site: Site, from: Person, to: ConversationId, name: string, noise = 0, text?: string) =>
  sendAttachment(site, from, to, makePicture(640, 480, noise), {
    type: "image",
    name,
    thumb,
    ...(text ? { text } : {}),
  });
export const sendVoice = (site: Site, from: Person, to: ConversationId, ms: number) =>
  sendAttachment(site, from, to, makeSound(ms), { type: "voice", name: "voix.wav", ms, waveform });
export const sendReport = (site: Site, from: Person, to: ConversationId) =>
  sendAttachment(site, from, to, report, { type: "file", name: reportName });

export type SendFiles = (site: Site, ben: Person, conversation: ConversationId) => Promise<unknown>;

/** Opens Ana's client in the chat to which `send` sent messages as Ben. */
export const openReader = async (
  browser: Browser,
  server: Server,
  n: number,
  send: SendFiles,
  options?: Pick<BrowserContextOptions, "serviceWorkers">,
) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, n), await makePerson(site, n + 1)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await send(site, ben, conversation);
  const phone = await TestClient.open(browser, server, "fr", options);
  return { site, ana, ben, conversation, phone, page: phone.page, texts: phone.texts.messages };
};

/** File requests of this page from now on, with their methods. */
export const watchFiles = (page: Page): string[] => {
  const seen: string[] = [];
  page.on("request", (request) => {
    if (/\/files\//.test(request.url())) seen.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return seen;
};
