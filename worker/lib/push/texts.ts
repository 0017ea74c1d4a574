import type { StoredBody } from "#contract/conversations.ts";
import type { Language } from "#contract/language.ts";

/** Texts of notifications, which the server writes because the app need not run when they are shown. */
type PushTexts = {
  newMessage: string;
  newMessages: (count: number) => string;
  photo: string;
  voice: (time: string) => string;
  missedCall: { audio: string; video: string };
  quote: (name: string, text: string) => string;
  test: string;
};

const texts: Record<Language, PushTexts> = {
  fr: {
    newMessage: "Nouveau message",
    newMessages: (count) => `${count} nouveaux messages`,
    photo: "Photo",
    voice: (time) => `Message vocal (${time})`,
    missedCall: { audio: "Appel audio manqué", video: "Appel vidéo manqué" },
    quote: (name, text) => `${name}\u00a0: ${text}`,
    test: "Les notifications arrivent sur cet appareil.",
  },
  en: {
    newMessage: "New message",
    newMessages: (count) => `${count} new messages`,
    photo: "Photo",
    voice: (time) => `Voice message (${time})`,
    missedCall: { audio: "Missed audio call", video: "Missed video call" },
    quote: (name, text) => `${name}: ${text}`,
    test: "Notifications arrive on this device.",
  },
  pt: {
    newMessage: "Nova mensagem",
    newMessages: (count) => `${count} novas mensagens`,
    photo: "Foto",
    voice: (time) => `Mensagem de voz (${time})`,
    missedCall: { audio: "Chamada de voz perdida", video: "Videochamada perdida" },
    quote: (name, text) => `${name}: ${text}`,
    test: "As notificações chegam a este dispositivo.",
  },
};

/** Name of the product, the title of notifications that are from nobody in particular. */
export const productName = "Lisolo";

export const toTestText = (language: Language): string => texts[language].test;

/** Number of new messages in words. */
export const toCountText = (language: Language, count: number): string =>
  count > 1 ? texts[language].newMessages(count) : texts[language].newMessage;

/** Text of a group message with its author. */
export const toQuote = (language: Language, name: string, text: string): string => texts[language].quote(name, text);

/** Duration as minutes and seconds. */
const formatMinutes = (ms: number): string => {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

/** Content of a message in one line, undefined if a notification cannot show it. */
export const toPreviewText = (language: Language, body: StoredBody): string | undefined => {
  const { photo, voice, missedCall } = texts[language];
  switch (body.type) {
    case "text":
      return body.text;
    case "image":
      return body.text ?? photo;
    case "file":
      return body.text ? `${body.name} – ${body.text}` : body.name;
    case "voice":
      return voice(formatMinutes(body.ms));
    case "call":
      return body.status === "missed" ? missedCall[body.kind] : undefined;
    case "event":
    case "deleted":
    case "withheld":
      return undefined;
    default:
      return body satisfies never;
  }
};
