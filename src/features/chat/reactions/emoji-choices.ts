import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { toStoreName } from "#sync/store/database.ts";
import { isEmoji } from "./emoji-search.ts";

/** Skin tones of Unicode (Fitzpatrick modifiers), after the neutral one. */
export const skinTones = ["", "🏻", "🏼", "🏽", "🏾", "🏿"] as const;

const recentEmojiMax = 24;
const StoredChoices = v.object({
  tone: v.picklist(skinTones),
  recent: v.pipe(v.array(v.string()), v.maxLength(recentEmojiMax)),
});
/** Skin tone and last chosen emoji of a person, newest first. */
export type EmojiChoices = v.InferOutput<typeof StoredChoices>;

const noChoices: EmojiChoices = { tone: "", recent: [] };

/** Key in localStorage. It begins with the name of the person's store, so that signing out removes it. */
const toKey = (me: Uuid): string => `${toStoreName(me)}-emoji`;

export const readEmojiChoices = (me: Uuid | undefined): EmojiChoices => {
  try {
    const stored = v.safeParse(StoredChoices, JSON.parse((me && localStorage.getItem(toKey(me))) ?? "null"));
    return stored.success ? stored.output : noChoices;
  } catch {
    return noChoices;
  }
};

export const writeEmojiChoices = (me: Uuid | undefined, choices: EmojiChoices): void => {
  try {
    if (me) localStorage.setItem(toKey(me), JSON.stringify(choices));
  } catch {
    // Without storage the choices last as long as the picker is open.
  }
};

export const withRecentEmoji = (choices: EmojiChoices, emoji: string): EmojiChoices => ({
  ...choices,
  recent: [emoji, ...choices.recent.filter((other) => other !== emoji)].slice(0, recentEmojiMax),
});

/** An emoji in a skin tone; unchanged if Unicode has no such sequence or the browser cannot tell. */
export const withSkinTone = (emoji: string, tone: EmojiChoices["tone"]): string => {
  if (tone === "") return emoji;
  const toned = emoji.replace(/(\p{Emoji_Modifier_Base})\uFE0F?/gu, `$1${tone}`);
  return toned !== emoji && isEmoji(toned) ? toned : emoji;
};

/** Text by which an emoji is found in the list whatever its skin tone. */
export const toNeutralEmoji = (emoji: string): string => emoji.replace(/\p{Emoji_Modifier}|\uFE0F/gu, "");
