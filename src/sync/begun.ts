import type { ConversationId } from "../../contract/ids";
import { changeBegun } from "./leaving";
import { drop } from "./recordings";
import { type ChoicePlace, type ChoiceRow, choiceKey, draftKey, type Store } from "./store";
import type { Tab } from "./tab";
import type { LeftOver } from "./views";

/** What was begun in a conversation and not sent. */

export const readChoice = async (store: Store, place: ChoicePlace): Promise<ChoiceRow | undefined> =>
  (await store.meta.get(choiceKey(place)))?.value as ChoiceRow | undefined;

/** Forgets what was kept of a choice; false when nothing was. */
export const dropChoice = (store: Store, place: ChoicePlace): Promise<boolean> =>
  changeBegun(store, place, [store.blobs], async () => {
    const kept = await readChoice(store, place);
    await store.meta.delete(choiceKey(place));
    await store.blobs.bulkDelete((kept?.files ?? []).map(({ id }) => id));
    return kept !== undefined;
  });

/** What was chosen or recorded there, and not sent. */
export const readLeftOver = async (store: Store, conversation: ConversationId): Promise<LeftOver> => {
  const files = (await readChoice(store, conversation))?.files ?? [];
  const recording = await store.recordings.get(conversation);
  return { files, ...(recording ? { recorded: { startedAt: recording.startedAt, ms: recording.ms } } : {}) };
};

/** It is no history: it outlives clearing, and goes with the conversation. */
export const forgetBegun = async (tab: Tab, conversation: ConversationId): Promise<void> => {
  const store = tab.context.get()?.store;
  if (!store) return;
  await store.meta.delete(draftKey(conversation));
  await dropChoice(store, conversation);
  await drop(tab, conversation);
};
