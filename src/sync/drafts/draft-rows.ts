import type { ConversationId } from "#contract/ids.ts";
import {
  type ChoicePlace,
  type ChoiceRow,
  choiceKeys,
  draftKey,
  type KeptChoice,
  type Store,
} from "#sync/store/database.ts";
import { readBegun, strikeBegun } from "#sync/store/journal.ts";
import { changeBegun } from "#sync/store/unsent-rows.ts";
import type { LeftOver } from "#sync/store/views.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { drop } from "./voice-drafts.ts";

/** What was begun in a conversation and not sent. */

const choicesAt = async (store: Store, keys: readonly string[]): Promise<ChoiceRow[]> =>
  (await store.meta.bulkGet([...keys])).flatMap((row) => (row ? [row.value as ChoiceRow] : []));

export const readChoice = async (store: Store, { key }: KeptChoice): Promise<ChoiceRow | undefined> =>
  (await choicesAt(store, [key]))[0];

/** What was being written there when its page was left, of which the store has an older text or nothing. */
const takeJotted = async ({ platform, userId }: Tab, store: Store, place: ChoicePlace): Promise<void> => {
  const notes = { platform, me: userId };
  for (const key of choiceKeys(place)) {
    const text = readBegun(notes, key);
    if (text === undefined) continue;
    await changeBegun(store, place, [], async () => {
      const [kept] = await choicesAt(store, [key]);
      const value: ChoiceRow = { files: [], isOriginal: false, to: [], ...kept, text };
      await store.meta.put({ key, value });
    });
    strikeBegun(notes, key);
  }
};

/** Where something is kept of what was chosen in a place. */
export const keptAt = async (tab: Tab, store: Store, place: ChoicePlace): Promise<string[]> => {
  await takeJotted(tab, store, place);
  const rows = await store.meta.bulkGet(choiceKeys(place));
  return rows.flatMap((row) => row?.key ?? []);
};

const dropAt = (store: Store, place: ChoicePlace, keys: readonly string[]): Promise<boolean> =>
  changeBegun(store, place, [store.blobs], async () => {
    const kept = await choicesAt(store, keys);
    await store.meta.bulkDelete([...keys]);
    await store.blobs.bulkDelete(kept.flatMap(({ files }) => files.map(({ id }) => id)));
    return kept.length > 0;
  });

/** Forgets what one page kept of a choice; false when nothing was. */
export const dropChoice = (store: Store, { place, key }: KeptChoice): Promise<boolean> => dropAt(store, place, [key]);

/** Forgets what was chosen there, by all pages unless told which, and what these were writing when they were left. */
export const throwAway = async (tab: Tab, place: ChoicePlace, keys = choiceKeys(place)): Promise<void> => {
  const store = tab.context.get()?.store;
  if (!store) return;
  for (const key of keys) strikeBegun({ platform: tab.platform, me: tab.userId }, key);
  await dropAt(store, place, keys);
};

/** What was chosen or recorded there, and not sent. */
export const readLeftOver = async (store: Store, conversation: ConversationId): Promise<LeftOver> => {
  const files = (await choicesAt(store, choiceKeys(conversation))).flatMap((choice) => choice.files);
  const recording = await store.recordings.get(conversation);
  return { files, ...(recording ? { recorded: { startedAt: recording.startedAt, ms: recording.ms } } : {}) };
};

/** It is no history: it outlives clearing, and goes with the conversation. */
export const forgetBegun = async (tab: Tab, conversation: ConversationId): Promise<void> => {
  const store = tab.context.get()?.store;
  if (!store) return;
  await store.meta.delete(draftKey(conversation));
  await throwAway(tab, conversation);
  await drop(tab, conversation);
};
