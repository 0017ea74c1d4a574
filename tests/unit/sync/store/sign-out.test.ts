import "fake-indexeddb/auto";
import { expect, it } from "vitest";
import { defaultSettings } from "#contract/settings/settings.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { toStoreName } from "#sync/store/database.ts";
import { purgeJournal } from "#sync/store/journal.ts";
import { deleteAllButUnsent, deleteAllData } from "#sync/store/open-database.ts";
import { writeSettingsCache } from "#sync/store/settings-rows.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { makePicture, sendFiles } from "#tests/support/model/outgoing-files.ts";

const notesOf = ({ localStorage: notes, user }: ModelDevice) =>
  Array.from({ length: notes?.length ?? 0 }, (_, i) => notes?.key(i)?.replace(toStoreName(user), "") ?? "").sort();
const databasesOf = async ({ indexedDB }: ModelDevice) => (await indexedDB.databases()).map(({ name }) => name);

const phoneWithUnsent = async (...files: Parameters<typeof makePicture>[]) => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  phone.faults.isOffline = true;
  const tab = await phone.openTab();
  for (const file of files) await sendFiles(tab, chat, makePicture(...file));
  const place = { platform: phone.platform(), me: amina };
  writeSettingsCache(place, defaultSettings);
  return { phone, tab, chat, place };
};

it("a sign-out leaves no journal entry and no database of the person", async () => {
  const { phone, tab, chat, place } = await phoneWithUnsent([1_000]);
  await enqueueText(tab, chat, "unsent");
  new TextDrafts(tab).type(chat, "draft");
  tab.unsent.journalPending();
  expect(notesOf(phone)).toHaveLength(5);
  await phone.close(tab);
  purgeJournal(place);
  await deleteAllData(place.platform, phone.user);
  expect(notesOf(phone)).toEqual([]);
  expect(await databasesOf(phone)).toEqual([]);
});

it("a session that was ended from elsewhere keeps only the data of unsent messages", async () => {
  const kept = await phoneWithUnsent([1_000]);
  await kept.phone.close(kept.tab);
  await deleteAllButUnsent(kept.place.platform, kept.phone.user);
  expect(notesOf(kept.phone)).toEqual([expect.stringContaining("-outbox-")]);

  const empty = await phoneWithUnsent();
  await empty.phone.close(empty.tab);
  await deleteAllButUnsent(empty.place.platform, empty.phone.user);
  expect(notesOf(empty.phone)).toEqual([]);
  expect(await databasesOf(empty.phone)).toEqual([]);
});
