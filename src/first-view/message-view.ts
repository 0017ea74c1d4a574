import { toCallEntry } from "#components/messages/call-text.ts";
import { formatElements, paragraphClasses } from "#components/messages/format-elements.ts";
import { textScaleClasses, toTextScale } from "#components/messages/large-emoji.ts";
import { describeDeleter, getMemberName, listNamedMembers } from "#components/messages/member-names.ts";
import { toPreviewParts } from "#components/messages/message-preview-text.ts";
import { pinnedAreaClasses } from "#components/messages/pinned-area-classes.ts";
import { quoteClasses } from "#components/messages/quote-classes.ts";
import { reactionClasses, toShownKinds } from "#components/messages/reaction-classes.ts";
import { describeSystemMessage } from "#components/messages/system-message-text.ts";
import { type AvatarPerson, toPersonHue } from "#components/people/avatar-text.ts";
import type { CallBody } from "#contract/calls/call.ts";
import { deletedUserId } from "#contract/ids.ts";
import { type Forwarded, findReplyTarget, getEditNumber, type StoredBody } from "#contract/messages/body.ts";
import { findMentions, type Mention } from "#contract/messages/mentions.ts";
import { type FormattedPart, parseFormatting, toShownText } from "#contract/wire/formatting.ts";
import { toTextParts } from "#contract/wire/links.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { cardHeightPx, cardWidthPx, toImageBox } from "#features/chat/message/bubble-metrics.ts";
import { collapseText } from "#features/chat/message/collapse-text.ts";
import { type MessagePlacement, runGapMs } from "#features/chat/message/message-layout.ts";
import { getLanguage } from "#i18n/current-language.ts";
import { formatDuration, formatTime } from "#i18n/format.ts";
import { formatBytes } from "#i18n/format-bytes.ts";
import { locales } from "#i18n/locales.ts";
import { formatDayHeading } from "#i18n/relative-date.ts";
import type { Translate } from "#i18n/setup.ts";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import { balanceBidi, endsRightToLeft, isolateBidi, isRightToLeft } from "#lib/text/bidi.ts";
import { avatar, ticks } from "./controls.ts";
import { Markup, markup } from "./markup.ts";
import type { ChatEntry, ChatViewData } from "./view-data.ts";

/** Messages of a chat, drawn like `src/features/chat/message`. */

const senderHueClasses: Readonly<Record<number, string>> = {
  322: "text-[hsl(322_var(--writer))]",
  350: "text-[hsl(350_var(--writer))]",
  14: "text-[hsl(14_var(--writer))]",
  32: "text-[hsl(32_var(--writer))]",
  165: "text-[hsl(165_var(--writer))]",
  190: "text-[hsl(190_var(--writer))]",
  212: "text-[hsl(212_var(--writer))]",
  250: "text-[hsl(250_var(--writer))]",
  280: "text-[hsl(280_var(--writer))]",
};

type MarkupParts = readonly (Markup | string)[];

const linkedText = (text: string): MarkupParts =>
  toTextParts(balanceBidi(text)).map((part) =>
    typeof part === "string"
      ? part
      : markup`<span><a href="${part.href}" target="_blank" rel="noopener noreferrer nofollow" dir="ltr" class="font-medium text-accent underline decoration-1 underline-offset-2 [unicode-bidi:isolate]">${part.text}</a>${
          part.host && markup`<bdi class="text-sm text-muted"> (${part.host})</bdi>`
        }</span>`,
  );

/** Invisible copy of the time, which reserves its place on the last line. */
const timeSpacer = (time: string, mine: boolean, more = ""): Markup =>
  markup`<span aria-hidden="true" data-time="${time}" class="invisible inline-block text-xs tabular-nums ${more} before:content-[attr(data-time)] ${mine ? "px-4" : "px-2"}"></span>`;

/** Characters of a piece, with its mentions emphasised. */
const mentioningText = (text: string, { start, end }: FormattedPart, mentions: readonly Mention[]): MarkupParts => {
  let shownUpTo = start;
  const parts = mentions.flatMap(([offset, length]) => {
    if (offset < start || offset + length > end) return []; // a collapsed text may lack the last ones
    const before = linkedText(toShownText(text, { start: shownUpTo, end: offset }));
    shownUpTo = offset + length;
    return [
      ...before,
      markup`<strong class="font-semibold text-accent">${balanceBidi(text.slice(offset, shownUpTo))}</strong>`,
    ];
  });
  return [...parts, ...linkedText(toShownText(text, { start: shownUpTo, end }))];
};

/** Text with formats in the place of their markers. */
const formattedText = (
  text: string,
  mentions: readonly Mention[],
  parts = parseFormatting(
    text,
    mentions.map(([offset, length]) => [offset, offset + length]),
  ),
  isCode = false,
): MarkupParts =>
  parts.flatMap((part) => {
    if (!part.format || !part.parts)
      return isCode ? balanceBidi(text.slice(part.start, part.end)) : mentioningText(text, part, mentions);
    const { tag, classes } = formatElements[part.format];
    const inner = formattedText(text, mentions, part.parts, part.format === "code");
    return [new Markup(`<${tag} class="${classes}">`), ...inner, new Markup(`</${tag}>`)];
  });

const bubbleText = (text: string, mentions: readonly Mention[], time: string, mine: boolean, t: Translate): Markup => {
  const collapsed = collapseText(text);
  return markup`<p><bdi class="${paragraphClasses}">${formattedText(collapsed ?? text, mentions)}${
    collapsed === undefined ? timeSpacer(time, mine) : "…"
  }</bdi></p>${
    collapsed !== undefined &&
    markup`<span class="flex min-h-12 w-full items-center font-semibold text-accent">${t("messages.showMore")}${timeSpacer(time, mine)}</span>`
  }`;
};

const caption = (
  body: Extract<StoredBody, { type: "image" | "file" }>,
  classes: string,
  time: string,
  mine: boolean,
  t: Translate,
) =>
  body.text !== undefined &&
  markup`<div class="w-0 min-w-full ${classes}">${bubbleText(body.text, findMentions(body), time, mine, t)}</div>`;

const note = (icon: string, text: string, time: string, mine: boolean): Markup =>
  markup`<p class="px-3 py-2 text-start leading-[1.4] text-muted italic"><span class="${icon} mr-1 align-[-0.125em] text-base" aria-hidden="true"></span><bdi>${text}</bdi>${timeSpacer(time, mine, "not-italic")}</p>`;

const image = (body: Extract<StoredBody, { type: "image" }>, hasThumb: boolean, t: Translate): Markup => {
  const { widthPx, ratio } = toImageBox(body.width, body.height);
  const thumb = hasThumb ? toThumbUrl(body.thumb) : undefined;
  const heightPx = Math.round(widthPx / ratio);
  const label = body.text ? t("messages.photoWith", { text: body.text }) : t("messages.photo");
  return markup`<div class="relative max-w-full overflow-hidden rounded-card bg-raised" role="img" aria-label="${label}"><svg width="${widthPx}" height="${heightPx}" viewBox="0 0 ${widthPx} ${heightPx}" class="h-auto max-w-full" aria-hidden="true"></svg>${
    thumb && markup`<img src="${thumb}" alt="" class="absolute inset-0 size-full object-cover">`
  }</div>`;
};

const fileCardClasses = `flex max-w-full w-[${cardWidthPx - 24}px] min-h-[${cardHeightPx - 16}px] flex-col justify-center`;

const content = (
  { body, mine }: ChatEntry,
  time: string,
  members: ChatViewData["members"],
  hasThumb: boolean,
  t: Translate,
): Markup => {
  switch (body.type) {
    case "text":
      return markup`<div class="px-3 py-2 ${textScaleClasses[toTextScale(body.text)]}">${bubbleText(body.text, findMentions(body), time, mine, t)}</div>`;
    case "image":
      return markup`<div class="p-1">${image(body, hasThumb, t)}${caption(body, "px-2 pt-1.5 pb-1", time, mine, t)}</div>`;
    case "file":
      return markup`<div class="px-3 py-2"><div class="${fileCardClasses}"><div class="flex min-h-12 min-w-0 flex-1 items-center gap-3 rounded-card text-start"><span class="grid size-12 shrink-0 place-items-center rounded-card bg-accent-soft text-[24px] text-accent"><span class="i-ph-file" aria-hidden="true"></span></span><span class="min-w-0 flex-1"><bdi class="line-clamp-2 font-semibold leading-5 [overflow-wrap:anywhere]">${body.name}</bdi><span class="block truncate text-xs leading-[20px] text-muted pr-[4rem]">${formatBytes(body.size)}</span></span></div></div>${caption(body, "pt-1", time, mine, t)}</div>`;
    case "voice":
      return markup`<div class="px-3 py-2"><div class="max-w-full w-[248px] h-12 flex items-center gap-2"><span class="grid size-12 shrink-0 place-items-center rounded-full bg-accent text-[24px] text-on-accent"><span class="i-ph-play-fill" aria-hidden="true"></span></span><span class="sr-only">${t("messages.voice", { time: formatDuration(body.ms) })}</span><span aria-hidden="true" class="self-end text-xs leading-[18px] text-muted tabular-nums">${formatDuration(body.ms, true)}</span></div></div>`;
    case "deleted":
      return note("i-ph-prohibit", describeDeleter(body, members, t) ?? t("chat.deletedMessage"), time, mine);
    default:
      body satisfies { type: "event" | "call" | "withheld" }; // have rows of their own, or none
      return note("i-ph-question", t("chat.unreadable"), time, mine);
  }
};

const forwardedLabel = ({ by, name }: Forwarded, me: string, t: Translate): Markup => {
  const author = by === deletedUserId ? t("common.deletedAccount") : name || t("common.user");
  return markup`<p class="flex h-[22px] items-end gap-1 px-3 text-xs text-muted"><span class="i-ph-arrow-bend-up-right text-sm" aria-hidden="true"></span><span class="min-w-0 truncate">${t(
    "messages.forwardedFrom",
    { name: by === me ? t("messages.you") : isolateBidi(author) },
  )}</span></p>`;
};

/** Area of the pinned messages, with the one pinned last if it is among the drawn messages. */
export const renderPinned = (chat: ChatViewData, t: Translate): Markup | false => {
  if (chat.pinned === undefined) return false;
  const message = chat.messages.find(({ seq }) => seq === chat.pinned);
  return markup`<div class="${pinnedAreaClasses}"><div class="flex h-full items-center gap-3 pr-2 pl-4 text-sm leading-[1.43]"><span class="i-ph-push-pin-fill shrink-0 text-lg text-accent" aria-hidden="true"></span><span class="flex min-w-0 flex-1 flex-col"><span class="sr-only">${t("pins.one")} </span>${
    message && message.body.type !== "withheld" && quotedMessage(message, chat, t)
  }</span></div></div>`;
};

/** Quote above a reply; a neutral line if the original is not among the drawn messages. */
const quote = (entry: ChatEntry, chat: ChatViewData, t: Translate): Markup | false => {
  const target = findReplyTarget(entry.body);
  if (target === undefined && entry.replyTo === undefined) return false;
  const original = target === undefined ? undefined : chat.messages.find(({ seq }) => seq === target);
  return markup`<div class="${entry.body.type === "text" ? quoteClasses.textFrame : ""}"><div class="w-0 min-w-full"><p class="${quoteClasses.box}"><span class="sr-only">${t("messages.inReplyTo")} </span>${
    original
      ? quotedMessage(original, chat, t)
      : markup`<span class="${quoteClasses.text} italic">${t("messages.replyLabel")}</span>`
  }</p></div></div>`;
};

const quotedMessage = ({ body, mine, sender }: ChatEntry, chat: ChatViewData, t: Translate): Markup => {
  const { members, name } = chat;
  const author = mine ? t("common.you") : members ? getMemberName(members, sender, t) : name;
  const inGroup = members && { sender, names: members };
  const { icon, text, isNote } = toPreviewParts(toPreview(body).preview, t, inGroup, { isMine: mine, peerName: name });
  return markup`<bdi class="${quoteClasses.author}">${balanceBidi(author)}</bdi><span class="${quoteClasses.text}"${isRightToLeft(text) && markup` dir="rtl"`}>${
    icon && markup`<span class="${icon} mr-1 align-[-0.125em] text-base" aria-hidden="true"></span>`
  }${isNote ? markup`<i>${text}</i>` : markup`<bdi${isRightToLeft(text) && markup` dir="rtl"`}>${balanceBidi(text)}</bdi>`}</span>`;
};

const call = (entry: ChatEntry, body: CallBody, chat: ChatViewData, endsRun: boolean, t: Translate): Markup => {
  const { mine, at } = entry;
  const { text, duration, isUnsuccessful } = toCallEntry(body, { isMine: mine, peerName: chat.name }, t);
  const corner = endsRun ? (mine ? "rounded-br-[6px]" : "rounded-bl-[6px]") : "";
  return markup`<div class="flex flex-col px-3 ${mine ? "items-end" : "items-start"} ${endsRun ? "pb-2" : "pb-0.5"}"><div class="flex min-h-[56px] max-w-[min(85%,34rem)] items-center overflow-hidden rounded-bubble py-1 pr-1 pl-3 ${corner} ${
    mine ? "bg-own" : "bg-surface shadow-[inset_0_0_0_1px_var(--line)]"
  }"><p class="min-w-0 flex-1 py-1 pr-1.5"><span class="block font-medium leading-[1.4] [overflow-wrap:anywhere] ${isUnsuccessful ? "text-danger" : ""}"><bdi>${text}</bdi></span><span class="flex flex-wrap items-center gap-x-1.5 text-xs text-muted tabular-nums"><span class="${
    mine ? "i-ph-arrow-up-right-bold" : "i-ph-arrow-down-left-bold"
  }" aria-hidden="true"></span>${duration !== undefined && markup`<span>${duration}<span aria-hidden="true"> ·</span></span>`}<time>${formatTime(at)}</time></span></p>${
    body.status === "missed" && markup`<span class="size-12 shrink-0"></span>`
  }<span class="grid size-12 shrink-0 place-items-center rounded-full"><span class="grid size-10 shrink-0 place-items-center rounded-full text-[22px] bg-accent-soft text-accent" aria-hidden="true"><span class="${
    body.kind === "video" ? "i-ph-video-camera" : "i-ph-phone"
  }"></span></span></span></div></div>`;
};

const toSender = (entry: ChatEntry, { members }: ChatViewData): AvatarPerson | undefined => {
  const profile = entry.sender === undefined ? undefined : members?.profiles[entry.sender];
  return profile && { username: profile.name, phone: profile.phone, avatar: profile.avatar };
};

const senderName = (person: AvatarPerson): Markup =>
  markup`<p aria-hidden="true" class="-mb-1 flex min-h-[26px] items-end px-3 pt-2 text-sm leading-[18px] font-semibold ${senderHueClasses[toPersonHue(person)]}"><bdi class="min-w-0 truncate">${balanceBidi(person.username)}</bdi></p>`;

const reactionRow = (summary: string, t: Translate): Markup => {
  const { shown, moreCount } = toShownKinds(summary);
  return markup`<div class="${reactionClasses.row}">${shown.map(
    ({ emoji, count, isOwn }) =>
      markup`<span class="${reactionClasses.pill} ${isOwn ? reactionClasses.own : reactionClasses.other}"><span class="sr-only">${t(
        isOwn ? "reactions.countOwn" : "reactions.count",
        { count, emoji },
      )}</span><span aria-hidden="true" class="text-base">${emoji}</span>${count > 1 && markup`<span aria-hidden="true">${count}</span>`}</span>`,
  )}${moreCount > 0 && markup`<span class="${reactionClasses.pill} ${reactionClasses.other}">+${moreCount}</span>`}</div>`;
};

const bubble = (entry: ChatEntry, placement: MessagePlacement, chat: ChatViewData, t: Translate): Markup => {
  const { body, mine, at, status } = entry;
  const { endsRun, hasAvatarColumn, hasSenderName } = placement;
  const edited = getEditNumber(body) > 0 && t("messages.edited");
  const time = formatTime(at);
  const isOverImage = body.type === "image" && body.text === undefined;
  const isRtl = "text" in body && endsRightToLeft(body.text ?? "");
  const corner = endsRun ? (mine ? "rounded-br-[6px]" : "rounded-bl-[6px]") : "";
  const sender = mine ? undefined : toSender(entry, chat);
  const author = mine ? t("chat.fromYou") : t("chat.from", { name: sender?.username ?? chat.name });
  return markup`<div class="relative flex flex-col pr-3 ${hasAvatarColumn ? "pl-[52px]" : "pl-3"} ${mine ? "items-end" : "items-start"} ${endsRun ? "pb-2" : "pb-0.5"}">${
    hasAvatarColumn &&
    endsRun &&
    sender &&
    markup`<span class="absolute bottom-0 left-0 grid h-12 w-12 items-end justify-items-center pb-2">${avatar(sender, 32)}</span>`
  }<div class="relative max-w-[min(85%,34rem)]"><div class="relative overflow-hidden rounded-bubble ${corner} ${
    mine ? "bg-own" : "bg-surface shadow-[inset_0_0_0_1px_var(--line)]"
  }"><span class="sr-only">${author} </span>${hasSenderName && sender && senderName(sender)}${
    "forwarded" in body && body.forwarded && forwardedLabel(body.forwarded, chat.me, t)
  }${quote(entry, chat, t)}${content(entry, edited ? `${edited} ${time}` : time, chat.members, chat.thumbs.has(entry), t)}<span class="pointer-events-none absolute bottom-1.5 flex items-center gap-1 text-xs tabular-nums ${isRtl ? "left-3" : "right-3"} ${
    isOverImage
      ? "mr-[-2px] mb-0.5 rounded-full bg-black/60 px-2 py-px text-white [--muted:#fff] [--read:#9ccbff]"
      : "text-muted"
  }">${edited && markup`<span>${edited}</span>`}<time>${time}</time>${mine && ticks(status, t)}</span></div></div>${
    entry.reactions && reactionRow(entry.reactions, t)
  }</div>`;
};

const dayHeading = (at: number, now: number): Markup =>
  markup`<p data-at="${at}" class="py-3 text-center text-xs font-semibold text-muted">${formatDayHeading(at, undefined, now)}</p>`;

/** Member numbers that the messages of a chat name. */
export const listMembersOfMessages = (
  messages: readonly { body: StoredBody | null | undefined; sender?: number | undefined }[],
): number[] => [...new Set(messages.flatMap((message) => listNamedMembers(message)))];

/** One message with the separator below it. */
export const renderMessage = (
  entry: ChatEntry,
  newer: ChatEntry | undefined,
  placement: MessagePlacement,
  chat: ChatViewData,
  t: Translate,
): Markup => {
  const { body, sender } = entry;
  const message =
    body.type === "event"
      ? markup`<p class="mx-auto my-1 w-fit max-w-[85%] rounded-card bg-raised px-3 py-1 text-center text-sm text-muted [overflow-wrap:anywhere]">${
          chat.members ? describeSystemMessage(body, sender, chat.members, t) : t("chat.unreadable")
        }</p>`
      : body.type === "call"
        ? call(entry, body, chat, placement.endsRun, t)
        : bubble(entry, placement, chat, t);
  return markup`<li class="flow-root">${message}${placement.endsDay && newer && dayHeading(newer.at, chat.now)}</li>`;
};

/** Beginning of the chat above its oldest message. */
export const renderChatStart = (oldestAt: number | undefined, now: number, t: Translate): Markup =>
  markup`<p>${t("chat.start")}</p>${oldestAt !== undefined && dayHeading(oldestAt, now)}`;

/**
 * Template of a message sent before the app has loaded, which `script/sent-messages.ts` copies and fills in: the message, the
 * heading of a day that it begins, and its tick once the server has stored it. The attributes give the current time,
 * the time of the newest message and how long an own message continues its run.
 */
export const renderSentTemplate = (chat: ChatViewData, t: Translate): Markup => {
  const { messages, now, shiftMs } = chat;
  const [newest] = messages;
  const entry: ChatEntry = { mine: true, at: now, body: { type: "text", text: "" }, status: "sending" };
  const placement = { endsDay: false, endsRun: true, hasAvatarColumn: false, hasSenderName: false };
  const runMs = newest?.mine && newest.body.type !== "event" ? runGapMs : 0;
  return markup`<template id="first-sent" data-now="${now - shiftMs}" data-newest="${newest && newest.at - shiftMs}" data-run="${runMs}" data-own-run="${runGapMs}" data-locale="${locales[getLanguage()]}"><li class="flow-root">${bubble(entry, placement, chat, t)}</li>${dayHeading(now, now)}${ticks("sent", t)}</template>`;
};
