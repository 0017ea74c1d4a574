import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Seq } from "#contract/messages/positions.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { toStoreName } from "#sync/store/database.ts";

/**
 * Text that was written and is neither sent nor in the message field: a draft that gave way to one of another device,
 * or the words of an edit that was not saved (`target`: the edited message).
 */
const KeptText = v.object({ id: v.string(), text: v.string(), target: v.optional(v.union([Seq, Uuid])) });
export type KeptText = v.InferOutput<typeof KeptText>;

export type KeptTextScope = { platform: Pick<Platform, "localStorage" | "now">; me: Uuid };

/** Key of the kept texts of a conversation in localStorage. */
export const toKeptTextsKey = (me: Uuid, conversation: ConversationId) => `${toStoreName(me)}-kept-${conversation}`;

/** Kept texts as stored, for comparison; null if there are none. */
export const readKeptTexts = ({ platform, me }: KeptTextScope, conversation: ConversationId): string | null =>
  platform.localStorage?.getItem(toKeptTextsKey(me, conversation)) ?? null;

export const parseKeptTexts = (stored: string | null | undefined): KeptText[] => {
  try {
    const parsed = v.safeParse(v.array(KeptText), JSON.parse(stored ?? "[]"));
    return parsed.success ? parsed.output : [];
  } catch {
    return [];
  }
};

export const listKeptTexts = (scope: KeptTextScope, conversation: ConversationId): KeptText[] =>
  parseKeptTexts(readKeptTexts(scope, conversation));

/** Kept texts of all conversations. */
export const listAllKeptTexts = (scope: KeptTextScope): (KeptText & { conversation: ConversationId })[] => {
  const { localStorage } = scope.platform;
  const prefix = toKeptTextsKey(scope.me, "");
  return Array.from({ length: localStorage?.length ?? 0 }, (_, index) => localStorage?.key(index) ?? "").flatMap(
    (key) => {
      const conversation = key.slice(prefix.length);
      if (!key.startsWith(prefix) || !v.is(ConversationId, conversation)) return [];
      return listKeptTexts(scope, conversation).map((kept) => ({ ...kept, conversation }));
    },
  );
};

/** Screens of this tab that show kept texts. */
export const keptTextListeners = new Set<() => void>();

/** Calls the listener when kept texts change in this tab or another. */
export const subscribeToKeptTexts = (listener: () => void): (() => void) => {
  keptTextListeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    keptTextListeners.delete(listener);
    removeEventListener("storage", listener);
  };
};
