import type { ConversationId } from "../../contract/ids";
import { changeBegun } from "./leaving";
import { drop } from "./recordings";
import { type ChoicePlace, type ChoiceRow, choiceKeys, draftKey, type KeptChoice, type Store } from "./store";
import type { Tab } from "./tab";
import type { LeftOver } from "./views";

/** What was begun in a conversation and not sent. */

const choicesAt = async (store: Store, keys: readonly string[]): Promise<ChoiceRow[]> =>
  (await store.meta.bulkGet([...keys])).flatMap((row) => (row ? [row.value as ChoiceRow] : []));

export const readChoice = async (store: Store, { key }: KeptChoice): Promise<ChoiceRow | undefined> =>
  (await choicesAt(store, [key]))[0];

/** Where something is kept of what was chosen in a place. */
export const keptAt = async (store: Store, place: ChoicePlace): Promise<string[]> => {
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
/** Forgets what all pages chose there. */
export const dropChoices = (store: Store, place: ChoicePlace): Promise<boolean> =>
  dropAt(store, place, choiceKeys(place));

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
  await dropChoices(store, conversation);
  await drop(tab, conversation);
};
