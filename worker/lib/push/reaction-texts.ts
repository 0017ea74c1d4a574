import type { Language } from "#contract/language.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { toPreviewText, toShortLine } from "./texts.ts";

/** Texts of notifications of reactions to the recipient's own messages. */

const quoteMaxLength = 80; // the notification also names people and the emoji

/**
 * Who reacted: one person or several, of whom one may be named. `quote` and `messages` add to what: a message in its
 * words, or a number of messages. `hidden` says neither.
 */
type ReactionTexts = {
  one: (name: string | undefined, emoji: string | undefined) => string;
  several: (name: string | undefined, people: number) => string;
  quote: (subject: string, text: string) => string;
  messages: (subject: string, count: number) => string;
  hidden: (count: number) => string;
};

const texts: Record<Language, ReactionTexts> = {
  fr: {
    one: (name = "Quelqu’un", emoji) => (emoji ? `${name} a réagi avec ${emoji}` : `${name} a réagi`),
    several: (name, people) =>
      name === undefined
        ? `${people} personnes ont réagi`
        : `${name} et ${people === 2 ? "1 autre personne" : `${people - 1} autres personnes`} ont réagi`,
    quote: (subject, text) => `${subject} à\u00a0: «\u00a0${text}\u00a0»`,
    messages: (subject, count) => `${subject} à ${count === 1 ? "votre message" : `${count} de vos messages`}`,
    hidden: (count) => (count === 1 ? "Nouvelle réaction à votre message" : "Nouvelles réactions à vos messages"),
  },
  en: {
    one: (name = "Somebody", emoji) => (emoji ? `${name} reacted with ${emoji}` : `${name} reacted`),
    several: (name, people) =>
      name === undefined
        ? `${people} people reacted`
        : `${name} and ${people === 2 ? "1 other" : `${people - 1} others`} reacted`,
    quote: (subject, text) => `${subject} to: “${text}”`,
    messages: (subject, count) => `${subject} to ${count === 1 ? "your message" : `${count} of your messages`}`,
    hidden: (count) => (count === 1 ? "New reaction to your message" : "New reactions to your messages"),
  },
  pt: {
    one: (name = "Alguém", emoji) => (emoji ? `${name} reagiu com ${emoji}` : `${name} reagiu`),
    several: (name, people) =>
      name === undefined
        ? `${people} pessoas reagiram`
        : `${name} e mais ${people === 2 ? "1 pessoa" : `${people - 1} pessoas`} reagiram`,
    quote: (subject, text) => `${subject} a: «${text}»`,
    messages: (subject, count) => `${subject} ${count === 1 ? "à sua mensagem" : `a ${count} das suas mensagens`}`,
    hidden: (count) => (count === 1 ? "Nova reação à sua mensagem" : "Novas reações às suas mensagens"),
  },
};

/**
 * Reactions that a notification announces: numbers of people and of messages, and the newest one with the name of the
 * person if it may be shown, and the preview of the message.
 */
export type AnnouncedReactions = {
  people: number;
  messages: number;
  name: string | undefined;
  emoji: string;
  preview: StoredBody;
  whole: boolean;
};

export const toReactionText = (
  language: Language,
  { people, messages, name, emoji, preview, whole }: AnnouncedReactions,
): string => {
  const { one, several, quote, messages: toMessages } = texts[language];
  const subject = people > 1 ? several(name, people) : one(name, messages === 1 ? emoji : undefined);
  const text = messages === 1 ? toPreviewText(language, preview, whole) : undefined;
  return text === undefined ? toMessages(subject, messages) : quote(subject, toShortLine(text, quoteMaxLength));
};

/** Text of reactions if a notification must not show their content. */
export const toHiddenReactionText = (
  language: Language,
  { people, messages }: Pick<AnnouncedReactions, "people" | "messages">,
): string => texts[language].hidden(Math.max(people, messages));
