import { beforeEach, expect, it, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { sharedFilesMax, shareFields } from "#contract/wire/share-target.ts";
import { shareCacheName } from "#lib/browser/share/share-cache.ts";
import {
  discardShare,
  findUnownedShare,
  openShare,
  saveShare,
  saveSharedText,
  sendShare,
} from "#lib/browser/share/stored-share.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const start = Date.UTC(2026, 10, 1);

let entries: Map<string, Blob>;
let room: number;

let isCreated: boolean;

/** The one cache of shares, as in a browser: once deleted, an open one has its own entries. `room`: how many more fit. */
const makeCache = (entries: Map<string, Blob>) => ({
  match: async (key: string | { url: string }) => {
    const found = entries.get(typeof key === "string" ? key : new URL(key.url).pathname);
    return found && new Response(found);
  },
  put: async (key: string, response: Response) => {
    if (!entries.has(key) && room-- <= 0) throw new DOMException("full", "QuotaExceededError");
    entries.set(key, await response.blob());
  },
  delete: async ({ url }: { url: string }) => entries.delete(new URL(url).pathname),
  keys: async () => [...entries.keys()].map((key) => ({ url: `https://lisolo.example${key}` })),
});

beforeEach(() => {
  entries = new Map();
  isCreated = false;
  room = Number.POSITIVE_INFINITY;
  vi.stubGlobal("caches", {
    open: async () => {
      isCreated = true;
      return makeCache(entries);
    },
    has: async (name: string) => name === shareCacheName && isCreated,
    delete: async () => {
      entries = new Map();
      isCreated = false;
    },
  });
});

const share = async (text: string, files: readonly File[] = [], now = start): Promise<Uuid> => {
  const form = new FormData();
  form.set(shareFields.text, text);
  for (const file of files) form.append(shareFields.files, file);
  const id = await saveShare(form, false, now);
  if (id === undefined) throw new Error("the share is empty");
  return id;
};
const makeFile = (name: string, bytes = 1) => new File([new Uint8Array(bytes)], name);
const [ana, ben] = [createUuid(), createUuid()];

it("of one person is deleted when another one starts, and opened again by nobody", async () => {
  const [anas, bens] = [await share("à Ana", [makeFile("photo")]), await share("à Ben")];
  await openShare(anas, ana, start);
  await openShare(bens, ben, start);
  await findUnownedShare(ben, start);
  expect(await openShare(anas, ana, start)).toBeUndefined();
  expect([...entries.keys()].filter((key) => key.includes(anas))).toEqual([]);
  expect(await openShare(bens, ben, start)).toMatchObject({ text: "à Ben" });
});

it("leaves out files above the limit and above the number of files, and counts them", async () => {
  const id = await share("", [makeFile("film", fileMaxBytes + 1), makeFile("photo", fileMaxBytes)]);
  const opened = await openShare(id, ana, start);
  expect(opened?.files.map(({ name, size }) => [name, size])).toEqual([["photo", fileMaxBytes]]);
  expect(opened?.refusedCount).toBe(1);
  const many = await share(
    "",
    Array.from({ length: sharedFilesMax + 2 }, (_, n) => makeFile(`${n}`)),
  );
  const { files, refusedCount } = (await openShare(many, ana, start)) ?? {};
  expect([files?.length, refusedCount]).toEqual([sharedFilesMax, 2]);
});

it("keeps what was shared while nobody was signed in for 15 minutes, and says once that it was dropped", async () => {
  const id = await share("Plus tard");
  expect(await findUnownedShare(ana, start + 15 * minuteMs)).toEqual({ id, wasDropped: false });
  expect(await findUnownedShare(ana, start + 15 * minuteMs + 1)).toEqual({ id: undefined, wasDropped: true });
  expect(entries.size).toBe(0);
  expect(await findUnownedShare(ana, start + 16 * minuteMs)).toEqual({ id: undefined, wasDropped: false });
  const late = await share("Trop tard");
  expect(await openShare(late, ana, start + 15 * minuteMs + 1)).toBeUndefined();
});

it("keeps what a person has opened for a day, for this person only", async () => {
  const id = await share("Secret", [makeFile("notes")]);
  expect(await openShare(id, ana, start)).toMatchObject({ text: "Secret" });
  expect(await openShare(id, ben, start)).toBeUndefined();
  expect(await findUnownedShare(ana, start)).toEqual({ id: undefined, wasDropped: false });
  expect(await openShare(id, ana, start + dayMs)).toMatchObject({ text: "Secret" });
  expect(await openShare(id, ana, start + dayMs + 1)).toBeUndefined();
  expect(entries.size).toBe(0);
});

it("keeps a share that arrives when the only other one has expired", async () => {
  await share("Hier");
  const id = await share("Aujourd'hui", [makeFile("notes")], start + dayMs);
  expect(await openShare(id, ana, start + dayMs)).toMatchObject({ text: "Aujourd'hui", files: [{ name: "notes" }] });
});

it("leaves no cache after a look for shares when there are none, or only those of somebody else", async () => {
  expect(await findUnownedShare(ana, start)).toEqual({ id: undefined, wasDropped: false });
  expect(isCreated).toBe(false);
  await openShare(await share("à Ana"), ana, start);
  await findUnownedShare(ben, start);
  expect(isCreated).toBe(false);
});

it("drops what was shared before the clock was set back", async () => {
  const id = await share("Hier");
  expect(await openShare(id, ana, start - 1)).toBeUndefined();
});

it("keeps the five newest shares", async () => {
  const ids: Uuid[] = [];
  for (let n = 0; n < 6; n++) ids.push(await share(`${n}`, [], start + n));
  const opened = await Promise.all(ids.map((id) => openShare(id, ana, start + 6)));
  expect(opened.map((one) => one?.text)).toEqual([undefined, "1", "2", "3", "4", "5"]);
});

it("leaves nothing behind of a share for which there is no room", async () => {
  room = 1;
  await expect(share("", [makeFile("un"), makeFile("deux")])).rejects.toThrow();
  expect(entries.size).toBe(0);
});

it.each(["", " \u200d\n"])("stores nothing of a share whose only content is the text %j", async (text) => {
  const form = new FormData();
  form.set(shareFields.text, text);
  form.append(shareFields.files, new File([], "")); // as browsers send an empty file field
  expect(await saveShare(form, false, start)).toBeUndefined();
  expect(entries.size).toBe(0);
});

it("keeps the changed text of a share", async () => {
  const id = await share("Mbote");
  await saveSharedText({ id, isTextSent: false }, "Mbote na yo");
  expect(await openShare(id, ana, start)).toMatchObject({ text: "Mbote na yo" });
});

it("does not send a text again whose files are still to be sent", async () => {
  const id = await share("Une fois", [makeFile("notes")]);
  const before = { id, isTextSent: false };
  const sending = sendShare(before, async (markTextSent) => {
    await markTextSent();
    throw new Error("no room");
  });
  await expect(sending).rejects.toThrow("no room");
  await saveSharedText(before, "Une fois"); // of a tab that does not know it yet
  const opened = await openShare(id, ana, start);
  expect([opened?.text, opened?.files.length, opened?.isTextSent]).toEqual(["", 1, true]);
  expect(await sendShare(before, async () => {})).toBe(false);
  expect(await sendShare({ id, isTextSent: true }, async () => {})).toBe(true);
  expect(entries.size).toBe(0);
});

it("sends a share once that is open in two tabs", async () => {
  const id = await share("Une fois", [makeFile("notes")]);
  let sent = 0;
  const send = () =>
    sendShare({ id, isTextSent: false }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      sent++;
    });
  expect(await Promise.all([send(), send()])).toEqual([true, false]);
  expect(sent).toBe(1);
  expect(await openShare(id, ana, start)).toBeUndefined();
});

it("does not offer an earlier share after a later one is discarded", async () => {
  const earlier = await share("Avant", [], start);
  const own = await share("Ouvert", [], start + 1);
  await openShare(own, ana, start + 1);
  const id = await share("Annulé", [], start + 2);
  const later = await share("Après", [], start + 3);
  await discardShare(id);
  const opened = await Promise.all([earlier, own, id, later].map((one) => openShare(one, ana, start + 4)));
  expect(opened.map((one) => one?.text)).toEqual([undefined, "Ouvert", undefined, "Après"]);
});
