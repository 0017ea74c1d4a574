import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { Language } from "#contract/language.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { removeFormatting } from "#contract/wire/formatting.ts";

/** Why a call needs no answer on a device any more. */
export type CallEnding = "answered" | "declined" | "ended";

/** Texts of notifications, which the server writes because the app need not run when they are shown. */
type PushTexts = {
  newMessage: string;
  newMessages: (count: number) => string;
  deleted: string;
  photo: string;
  voice: (time: string) => string;
  missedCall: Record<CallKind, string>;
  missedCalls: (count: number) => string;
  incomingCall: Record<CallKind, string>;
  callEnded: Record<CallEnding, string>;
  quote: (name: string, text: string) => string;
  mentionBy: (name: string) => string;
  newMention: string;
  newMentions: (count: number) => string;
  summary: (messages: string, conversations: number) => string;
  request: string;
  invitation: { from: string; anonymous: string };
  handled: { read: string; request: string; invitation: string };
  security: { signedIn: string; resetStarted: string; other: string };
  test: string;
};

const texts: Record<Language, PushTexts> = {
  fr: {
    newMessage: "Nouveau message",
    newMessages: (count) => `${count} nouveaux messages`,
    deleted: "Message supprimé",
    photo: "Photo",
    voice: (time) => `Message vocal (${time})`,
    missedCall: { audio: "Appel audio manqué", video: "Appel vidéo manqué" },
    missedCalls: (count) => (count > 1 ? `${count} appels manqués` : "Appel manqué"),
    incomingCall: { audio: "Appel audio entrant", video: "Appel vidéo entrant" },
    callEnded: {
      answered: "Appel pris sur un autre appareil",
      declined: "Appel refusé sur un autre appareil",
      ended: "Appel terminé",
    },
    quote: (name, text) => `${name}\u00a0: ${text}`,
    mentionBy: (name) => `${name} vous mentionne`,
    newMention: "Nouvelle mention",
    newMentions: (count) => `${count} nouvelles mentions`,
    summary: (messages, count) => (count === 1 ? messages : `${messages} dans ${count} conversations`),
    request: "Demande de contact",
    invitation: { from: "Vous invite dans un groupe", anonymous: "Invitation dans un groupe" },
    handled: {
      read: "Lu sur un autre appareil",
      request: "Cette demande n’attend plus de réponse",
      invitation: "Cette invitation n’attend plus de réponse",
    },
    security: {
      signedIn: "Nouvelle connexion à votre compte",
      resetStarted: "Retrait de la deuxième étape demandé",
      other: "La sécurité de votre compte a changé",
    },
    test: "Les notifications arrivent sur cet appareil.",
  },
  en: {
    newMessage: "New message",
    newMessages: (count) => `${count} new messages`,
    deleted: "Message deleted",
    photo: "Photo",
    voice: (time) => `Voice message (${time})`,
    missedCall: { audio: "Missed audio call", video: "Missed video call" },
    missedCalls: (count) => (count > 1 ? `${count} missed calls` : "Missed call"),
    incomingCall: { audio: "Incoming audio call", video: "Incoming video call" },
    callEnded: {
      answered: "Call answered on another device",
      declined: "Call declined on another device",
      ended: "Call ended",
    },
    quote: (name, text) => `${name}: ${text}`,
    mentionBy: (name) => `${name} mentioned you`,
    newMention: "New mention",
    newMentions: (count) => `${count} new mentions`,
    summary: (messages, count) => (count === 1 ? messages : `${messages} in ${count} conversations`),
    request: "Contact request",
    invitation: { from: "Invites you to a group", anonymous: "Invitation to a group" },
    handled: {
      read: "Read on another device",
      request: "This request needs no answer any more",
      invitation: "This invitation needs no answer any more",
    },
    security: {
      signedIn: "New log-in to your account",
      resetStarted: "Removal of the second step requested",
      other: "The security of your account has changed",
    },
    test: "Notifications arrive on this device.",
  },
  pt: {
    newMessage: "Nova mensagem",
    newMessages: (count) => `${count} novas mensagens`,
    deleted: "Mensagem eliminada",
    photo: "Foto",
    voice: (time) => `Mensagem de voz (${time})`,
    missedCall: { audio: "Chamada de voz perdida", video: "Videochamada perdida" },
    missedCalls: (count) => (count > 1 ? `${count} chamadas perdidas` : "Chamada perdida"),
    incomingCall: { audio: "Chamada de voz recebida", video: "Videochamada recebida" },
    callEnded: {
      answered: "Chamada atendida noutro dispositivo",
      declined: "Chamada recusada noutro dispositivo",
      ended: "Chamada terminada",
    },
    quote: (name, text) => `${name}: ${text}`,
    mentionBy: (name) => `Menção de ${name}`,
    newMention: "Nova menção",
    newMentions: (count) => `${count} novas menções`,
    summary: (messages, count) => (count === 1 ? messages : `${messages} em ${count} conversas`),
    request: "Pedido de contacto",
    invitation: { from: "Convite para um grupo", anonymous: "Convite para um grupo" },
    handled: {
      read: "Lida noutro dispositivo",
      request: "Este pedido já não espera resposta",
      invitation: "Este convite já não espera resposta",
    },
    security: {
      signedIn: "Nova sessão na sua conta",
      resetStarted: "Remoção do segundo passo pedida",
      other: "A segurança da sua conta mudou",
    },
    test: "As notificações chegam a este dispositivo.",
  },
};

/** Name of the product, the title of notifications that are from nobody in particular. */
export const productName = "Lisolo";

export const toTestText = (language: Language): string => texts[language].test;

export const toIncomingCallText = (language: Language, kind: CallKind): string => texts[language].incomingCall[kind];

export const toCallEndedText = (language: Language, ending: CallEnding): string => texts[language].callEnded[ending];

export const toMissedCallText = (language: Language, kind: CallKind): string => texts[language].missedCall[kind];

/** Number of missed calls in words. */
export const toMissedCallCountText = (language: Language, count: number): string => texts[language].missedCalls(count);

/** Number of new messages in words. */
export const toCountText = (language: Language, count: number): string =>
  count > 1 ? texts[language].newMessages(count) : texts[language].newMessage;

/** Text in the place of a deleted message. */
export const toDeletedText = (language: Language): string => texts[language].deleted;

/** Number of new mentions in words. */
export const toMentionCountText = (language: Language, count: number): string =>
  count > 1 ? texts[language].newMentions(count) : texts[language].newMention;

/** Number of new messages, or of missed calls if there is nothing else, and of their conversations in words. */
export const toSummaryText = (
  language: Language,
  { count, conversations, areMissedCalls }: { count: number; conversations: number; areMissedCalls: boolean },
): string =>
  texts[language].summary((areMissedCalls ? toMissedCallCountText : toCountText)(language, count), conversations);

/** Text in the place of what needs no attention any more: messages that were read, or what was answered. */
export const toHandledText = (language: Language, subject: keyof PushTexts["handled"]): string =>
  texts[language].handled[subject];

export const toRequestText = (language: Language): string => texts[language].request;

/** Text of an invitation to a group, below the name of its sender if that may be shown. */
export const toInvitationText = (language: Language, isNamed: boolean): string =>
  texts[language].invitation[isNamed ? "from" : "anonymous"];

/** Text of a security notice; the app names the event. */
export const toSecurityText = (language: Language, event: SecurityNotice["event"]): string => {
  const { signedIn, resetStarted, other } = texts[language].security;
  return event === "signed_in" ? signedIn : event === "reset_started" ? resetStarted : other;
};

/** Text of a group message with its author. */
export const toQuote = (language: Language, name: string, text: string): string => texts[language].quote(name, text);

/** Text of a group message that mentions the recipient, with its author if known. */
export const toMentionQuote = (language: Language, name: string | undefined, text: string): string => {
  const { quote, mentionBy, newMention } = texts[language];
  return quote(name ? mentionBy(name) : newMention, text);
};

/** Duration as minutes and seconds. */
const formatMinutes = (ms: number): string => {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Marks a text as cut. Its last character may be a part of one, such as a family of emoji without the children, and is
 * left out.
 */
const markCut = (text: string): string => {
  const last = [...characters.segment(text)].at(-1)?.index ?? 0;
  return `${(last > 0 ? text.slice(0, last) : text).trimEnd()}…`;
};

/** A text of at most so many UTF-16 units in one line, cut between characters. */
export const toShortLine = (text: string, max: number): string => {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= max) return line;
  const end = characters.segment(line).containing(max - 1)?.index ?? 0;
  return `${line.slice(0, end > 0 ? end : max - 1).trimEnd()}…`;
};

/** Content of a message in one line, undefined if a notification cannot show it. `isWhole`: its text was not cut. */
export const toPreviewText = (language: Language, body: StoredBody, isWhole: boolean): string | undefined => {
  const { photo, voice, missedCall } = texts[language];
  const plain = "text" in body && body.text ? removeFormatting(body.text) : undefined;
  const text = plain && !isWhole ? markCut(plain) : plain;
  switch (body.type) {
    case "text":
      return text;
    case "image":
      return text ?? photo;
    case "file":
      return text ? `${body.name} – ${text}` : body.name;
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
