import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { type Language, resolveLanguage } from "#contract/language.ts";
import { findFragmentSeq, PushPayload, toMessageFragment } from "#contract/push.ts";
import { notifier as english } from "#i18n/en.json";
import { notifier as french } from "#i18n/fr.json";
import { notifier as portuguese } from "#i18n/pt.json";
import type { PushDevice } from "#lib/browser/push/push-device.ts";

const icon = "/icon-192.png";
const badge = "/badge-96.png"; // one colour, for the status bar of a phone
const productName = "Lisolo";
const genericTag = "lisolo";
const startPath = "/app";
const textsByLanguage = { fr: french, en: english, pt: portuguese } as const satisfies Record<Language, object>;

type NotifierText = keyof typeof french;

/** Text by its key in the files of all languages. */
const getText = (language: Language, key: `notifier.${NotifierText}`): string =>
  textsByLanguage[language][key.slice("notifier.".length) as NotifierText];

/** Call that a notification is about, and its recipient. `sentAt`: server time of the push, epoch milliseconds. */
const NotifiedCall = v.object({
  id: Uuid,
  conversation: ConversationId,
  user: Uuid,
  sentAt: v.number(),
  isRinging: v.boolean(),
});
type NotifiedCall = v.InferOutput<typeof NotifiedCall>;

/**
 * Data of a notification: the path it opens, for a message its conversation and recipient, and for a call that call
 * instead, because reading the conversation ends no ring. `fragment` is the part of the page to open. `isHandled`: it
 * needs no attention any more.
 */
export const NotificationData = v.object({
  path: v.string(),
  fragment: v.optional(v.string()),
  call: v.optional(NotifiedCall),
  conversation: v.optional(ConversationId),
  user: v.optional(Uuid),
  count: v.optional(v.number(), 0),
  head: v.optional(v.number(), 0),
  isHandled: v.optional(v.literal(true)),
});
export type NotificationData = v.InferOutput<typeof NotificationData>;

/** Button of a notification. One of the type "text" has an input field, where the browser supports it. */
type NotificationAction = {
  action: "reply" | "read" | "answer" | "decline";
  title: string;
  type?: "text";
  placeholder?: string;
};

/** Options of `showNotification`; several are missing in type libraries. */
export type PushNotification = {
  title: string;
  options: NotificationOptions & {
    data: NotificationData;
    renotify?: boolean;
    timestamp?: number;
    vibrate?: number[];
    actions?: NotificationAction[];
  };
};

const ringVibration = [800, 400, 800, 400, 800]; // milliseconds of vibration and of pauses in turn

/** Buttons of the notification of messages. */
const toMessageActions = (language: Language): NotificationAction[] => [
  {
    action: "reply",
    title: getText(language, "notifier.reply"),
    type: "text",
    placeholder: getText(language, "notifier.replyHint"),
  },
  { action: "read", title: getText(language, "notifier.markRead") },
];

/** Notification of messages shown once more, with its buttons and without a sound. */
export const toRepeatedNotification = (
  { title, body, tag, lang }: Pick<Notification, "title" | "body" | "tag" | "lang">,
  data: NotificationData,
): PushNotification => {
  const actions = toMessageActions(resolveLanguage({ accept: lang }));
  return { title, options: { body, tag, lang, dir: "auto", icon, badge, silent: true, data, actions } };
};

/**
 * The notification of a conversation after a reply was written in it: the reply waits to be sent, or was refused. It
 * makes no sound.
 */
export const toReplyNotification = (
  { title, tag, lang, data }: Pick<Notification, "title" | "tag" | "lang"> & { data: NotificationData },
  text: string,
  state: "waiting" | "refused",
): PushNotification => {
  const language = resolveLanguage({ accept: lang });
  const stateText = getText(language, state === "waiting" ? "notifier.replyWaiting" : "notifier.replyRefused");
  const body = `${stateText}\n${text}`;
  return { title, options: { body, tag, lang, dir: "auto", icon, badge, silent: true, data } };
};

/** Path of the app in a URL, whatever its origin: the server may be reached under several. */
export const toAppPath = (url: string): string => {
  const path = URL.parse?.(url)?.pathname ?? /^https?:\/\/[^/]+(\/[^?#]*)/.exec(url)?.[1] ?? "";
  return path === startPath || path.startsWith(`${startPath}/`) ? path : startPath;
};

/** Message at which a URL opens a chat, as a fragment, "" if there is none. */
const toMessageFragmentOf = (url: string): string => {
  const seq = findFragmentSeq(/#.*$/.exec(url)?.[0] ?? "");
  return seq === undefined ? "" : toMessageFragment(seq);
};

export const parsePush = (text: string | undefined): PushPayload | undefined => {
  try {
    const parsed = v.safeParse(PushPayload, JSON.parse(text ?? ""));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Notification of a push. One that cannot be read, or that is for somebody who is not signed in here, becomes a general
 * notification without content: browsers withdraw the permission of an app that receives pushes and shows nothing.
 */
export const toNotification = (
  payload: PushPayload | undefined,
  device: PushDevice | undefined,
  browserLanguages: readonly string[],
): PushNotification => {
  if (!payload || !device || payload.data.user !== device.user) {
    const language = device?.language ?? resolveLanguage({ accept: browserLanguages.join() });
    const data = { path: startPath, count: 0, head: 0 };
    const body = getText(language, "notifier.newMessage");
    return { title: productName, options: { body, tag: genericTag, lang: language, icon, badge, data } };
  }
  const { title, body, navigate, lang } = payload.notification;
  const { kind, user, conversation, count, head = 0, isAlerting, isHandled, isNameHidden = false } = payload.data;
  const fragment = toMessageFragmentOf(navigate);
  // A notification that hides whose messages these are offers neither an answer nor "read".
  const hasActions = (kind === "message" || kind === "missed_call") && !isNameHidden && !isHandled;
  return {
    title,
    options: {
      ...toSharedOptions(payload, body, !isAlerting),
      renotify: isAlerting,
      data: {
        path: toAppPath(navigate),
        ...(fragment === "" ? {} : { fragment }),
        count,
        head,
        user,
        ...(isHandled ? { isHandled } : {}),
        ...(conversation === undefined ? {} : { conversation }),
      },
      ...(hasActions ? { actions: toMessageActions(lang) } : {}),
    },
  };
};

const toSharedOptions = ({ notification: { tag, lang, dir }, data }: PushPayload, body: string, silent: boolean) => ({
  body,
  tag,
  lang,
  dir,
  icon,
  badge,
  silent,
  timestamp: data.sentAt,
});

/** Notification of a call: it rings, with buttons, or shows that the call is over. */
export const toCallNotification = (
  payload: PushPayload,
  { body, ...call }: Omit<NotifiedCall, "user" | "sentAt"> & { body: string },
  isSilent: boolean,
): PushNotification => {
  const { title, navigate, lang } = payload.notification;
  const { user, sentAt } = payload.data;
  const ringOptions: Partial<PushNotification["options"]> = {
    requireInteraction: true,
    renotify: !isSilent,
    ...(isSilent ? {} : { vibrate: ringVibration }),
    actions: [
      { action: "answer", title: getText(lang, "notifier.answerCall") },
      { action: "decline", title: getText(lang, "notifier.declineCall") },
    ],
  };
  return {
    title,
    options: {
      ...toSharedOptions(payload, body, isSilent),
      data: { path: toAppPath(navigate), count: 0, head: 0, call: { ...call, user, sentAt } },
      ...(call.isRinging ? ringOptions : {}),
    },
  };
};
