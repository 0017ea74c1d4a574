import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { type KeptText, type KeptTextScope, keptTextListeners, listKeptTexts, toKeptTextsKey } from "./kept-texts.ts";

/**
 * Replaces the kept texts of a conversation. In localStorage, so that they survive a reload and a rebuilt database.
 * Returns false if the device has no room for them.
 */
const writeKeptTexts = ({ platform, me }: KeptTextScope, conversation: ConversationId, texts: KeptText[]): boolean => {
  const { localStorage } = platform;
  const key = toKeptTextsKey(me, conversation);
  try {
    if (texts.length === 0) localStorage?.removeItem(key);
    else localStorage?.setItem(key, JSON.stringify(texts));
  } catch (error) {
    console.warn("a text could not be kept", error);
    return false;
  }
  for (const listener of [...keptTextListeners]) listener();
  return localStorage !== undefined;
};

/**
 * Keeps a text; one with the same id, or one that it continues, is replaced. Their number has no limit, because a text
 * must not be lost. Returns false if it could not be kept: then what has it must not be deleted. `isEarlier`: those
 * with the same target were written after it.
 */
export const keepText = (
  scope: KeptTextScope,
  conversation: ConversationId,
  text: string,
  { id, target, isEarlier }: { id?: string; target?: number | Uuid; isEarlier?: boolean } = {},
): boolean => {
  const others = listKeptTexts(scope, conversation).filter(
    (kept) => kept.id !== id && (kept.target !== target || target !== undefined || !text.startsWith(kept.text)),
  );
  const kept = { id: id ?? createUuid(scope.platform.now()), text, ...(target === undefined ? {} : { target }) };
  if (id === undefined && others.some((other) => other.text === text && other.target === target)) return true;
  const later = isEarlier ? others.findIndex((other) => other.target === target) : -1;
  const place = later < 0 ? others.length : later;
  return writeKeptTexts(scope, conversation, [...others.slice(0, place), kept, ...others.slice(place)]);
};

/** Deletes the kept texts of a conversation that is removed. */
export const deleteKeptTexts = (scope: KeptTextScope, conversation: ConversationId): void => {
  writeKeptTexts(scope, conversation, []);
};

export const deleteKeptText = (scope: KeptTextScope, conversation: ConversationId, id: string): void => {
  const before = listKeptTexts(scope, conversation);
  const texts = before.filter((kept) => kept.id !== id);
  if (texts.length < before.length) writeKeptTexts(scope, conversation, texts);
};
