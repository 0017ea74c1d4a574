import "fake-indexeddb/auto";
import { expect, it } from "vitest";
import { defaultSettings } from "../../contract/settings";
import { dropJotted, jotBegun, jotDraft } from "../../src/sync/jotting";
import { deleteStore, keepUnsentOnly } from "../../src/sync/repair";
import { noteShown } from "../../src/sync/settings";
import { storeName } from "../../src/sync/store";
import { writeText } from "../../src/sync/writing";
import { eventually } from "../support/eventually";
import type { ModelDevice } from "../support/model-device";
import { picture, send } from "../support/model-outgoing";
import { makeDevice, makePair } from "../support/model-world";

const notesOf = ({ notes, user }: ModelDevice) =>
  Array.from({ length: notes?.length ?? 0 }, (_, i) => notes?.key(i)?.replace(storeName(user), "") ?? "").sort();
const databasesOf = async ({ indexedDB }: ModelDevice) => (await indexedDB.databases()).map(({ name }) => name);

const phoneWithUnsent = async (...files: Parameters<typeof picture>[]) => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  phone.faults.isOffline = true;
  const tab = await phone.openTab();
  for (const file of files) await send(tab, chat, picture(...file));
  const place = { platform: phone.platform(), me: amina };
  noteShown(place, defaultSettings);
  if (files.length > 0) await eventually(() => expect(notesOf(phone)).toContain("-files"));
  return { phone, tab, chat, place };
};

it("a sign-out leaves no note and no database of the person", async () => {
  const { phone, tab, chat, place } = await phoneWithUnsent([1_000]);
  await writeText(tab, chat, "unsent");
  jotDraft(place, chat, "draft");
  jotBegun(place, `choice:${chat}`, "beside a picture");
  expect(notesOf(phone)).toHaveLength(5);
  await phone.close(tab);
  dropJotted(place);
  await deleteStore(place.platform, storeName(phone.user));
  expect(notesOf(phone)).toEqual([]);
  expect(await databasesOf(phone)).toEqual([]);
});

it("a session that ends, or another's that begins, leaves only what belongs to unsent messages", async () => {
  const kept = await phoneWithUnsent([1_000]);
  await kept.phone.close(kept.tab);
  await keepUnsentOnly(kept.place.platform, kept.phone.user);
  expect(notesOf(kept.phone)).toEqual(["-files"]);

  const empty = await phoneWithUnsent();
  await empty.phone.close(empty.tab);
  empty.phone.notes?.setItem(`${storeName(empty.phone.user)}-files`, "1");
  await keepUnsentOnly(empty.place.platform, empty.phone.user);
  expect(notesOf(empty.phone)).toEqual([]);
  expect(await databasesOf(empty.phone)).toEqual([]);
});
