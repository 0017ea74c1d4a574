import { type CallPerspective, toCallEntry } from "#components/messages/call-text.ts";
import { getConversationName, toConversationPath } from "#components/messages/conversation-name.ts";
import { getMemberName, shortenName, toMemberNames } from "#components/messages/member-names.ts";
import { toPreviewParts } from "#components/messages/message-preview-text.ts";
import { type AvatarPerson, toAvatarPerson } from "#components/people/avatar-text.ts";
import { toMutedText } from "#components/people/mute-texts.ts";
import { isSystemMessage } from "#contract/messages/kinds.ts";
import { formatTimeOrDate } from "#i18n/relative-date.ts";
import type { Translate } from "#i18n/setup.ts";
import { balanceBidi, isolateBidi, isRightToLeft } from "#lib/text/bidi.ts";
import { avatar, countBadge, iconButton, tabBar, ticks } from "./controls.ts";
import { type Markup, markup } from "./markup.ts";
import type { ListEntry, ListView } from "./view-data.ts";

/** Conversation list, drawn like `src/features/conversations`. */

const authorNameChars = 18;
const unknownPerson: AvatarPerson = { username: "", phone: "", avatar: null };

const toCallPerspective = (entry: ListEntry, t: Translate): CallPerspective => ({
  isMine: entry.last.mine,
  peerName: getConversationName(entry, t),
});

const authorPrefix = (entry: ListEntry, t: Translate): Markup | undefined => {
  const { body, mine, sender } = entry.last;
  if (body && isSystemMessage(body)) return undefined;
  if (mine) return markup`<span>${t("masolo.own")} </span>`;
  const names = toMemberNames(entry);
  if (!names || sender === undefined || !names.profiles[sender]) return undefined;
  const name = isolateBidi(shortenName(getMemberName(names, sender, t), authorNameChars));
  return markup`<span>${t("chat.from", { name })} </span>`;
};

const previewText = (entry: ListEntry, t: Translate): Markup => {
  const { body, sender } = entry.last;
  if (entry.draft) {
    return markup`<span class="font-medium text-danger">${t("masolo.draft")}</span> <bdi>${balanceBidi(entry.draft)}</bdi>`;
  }
  if (body === undefined) return markup``;
  if (!body) return markup`<i>${t("masolo.nothingLeft")}</i>`;
  const names = toMemberNames(entry);
  const { icon, text, isNote } = toPreviewParts(body, t, names && { sender, names }, toCallPerspective(entry, t));
  return markup`${authorPrefix(entry, t)}
    ${icon && markup`<span class="${icon} mr-1 align-[-0.125em] text-base" aria-hidden="true"></span>`}
    ${isNote ? markup`<i>${text}</i>` : markup`<bdi${isRightToLeft(text) && markup` dir="rtl"`}>${balanceBidi(text)}</bdi>`}`;
};

const preview = (entry: ListEntry, t: Translate): Markup => {
  const { last, unread, mentions, marked, pinned, muted, mutedExceptMentions } = entry;
  const isLoud = (unread > 0 || marked) && !muted;
  const status = !entry.draft && last.mine && last.body ? last.status : undefined;
  const isFailedCall =
    !entry.draft && last.body?.type === "call" && toCallEntry(last.body, toCallPerspective(entry, t), t).isUnsuccessful;
  const tone = status === "failed" || isFailedCall ? "text-danger" : isLoud ? "text-text" : "text-muted";
  return markup`<span class="flex min-h-6 items-center gap-1.5">
    ${status && ticks(status, t)}
    <span class="min-w-0 flex-1 truncate text-sm ${isLoud ? "font-medium" : ""} ${tone}">${previewText(entry, t)}</span>
    ${muted && markup`<span role="img" aria-label="${toMutedText({ mutedUntil: null, mutedExceptMentions }, t)}" class="i-ph-bell-slash shrink-0 text-base text-muted"></span>`}
    ${pinned && markup`<span role="img" aria-label="${t("masolo.pinned")}" class="i-ph-push-pin-fill shrink-0 text-base text-muted"></span>`}
    ${mentions.length > 0 && countBadge("@", t("masolo.mentions", { count: mentions.length }), muted && !mutedExceptMentions)}
    ${unread > 0 && countBadge(unread, t("masolo.unread", { count: unread }), muted)}
    ${marked && unread === 0 && countBadge("", t("masolo.marked"), muted)}
  </span>`;
};

const row = (entry: ListEntry, now: number, t: Translate): Markup => {
  const name = getConversationName(entry, t);
  const isLoud = (entry.unread > 0 || entry.marked) && !entry.muted;
  const person = entry.group ? toAvatarPerson(entry.group, entry.id) : (entry.person ?? unknownPerson);
  return markup`<li class="h-[4.75rem] border-b border-line"><div class="relative flex h-full items-center bg-bg hover:bg-raised active:bg-raised">
    <a href="${toConversationPath(entry)}" class="flex h-full min-w-0 flex-1 items-center gap-3 py-2 pl-4 outline-offset-[-3px] pr-1 [@media(hover:hover)]:!pr-4">
      ${avatar(person, 50)}
      <span class="flex min-w-0 flex-1 flex-col gap-0.5">
        <span class="flex flex-wrap items-baseline gap-x-2">
          <span class="flex min-w-[min(100%,7rem)] flex-1 items-baseline gap-1.5">
            ${entry.kind === "group" && markup`<span role="img" aria-label="${t("groups.chat.isGroup")}" class="i-ph-users-three-fill shrink-0 self-center text-base text-muted"></span>`}
            <bdi class="min-w-0 truncate font-semibold">${name}</bdi>
            ${entry.person?.blocked === 1 && markup`<span role="img" aria-label="${t("blocked.isBlocked")}" class="i-ph-prohibit-bold shrink-0 self-center text-base text-danger"></span>`}
          </span>
          <time data-at="${entry.at}" class="shrink-0 text-xs tabular-nums ${isLoud ? "font-semibold text-accent" : "text-muted"}">${formatTimeOrDate(entry.at, undefined, now)}</time>
        </span>
        ${preview(entry, t)}
      </span>
    </a>
    ${iconButton("i-ph-dots-three-vertical-bold", t("masolo.rowActions", { name }), "mr-1 text-muted [@media(hover:hover)]:!hidden")}
  </div></li>`;
};

const tabs = ({ marks, hasTala }: ListView, t: Translate): Markup => {
  const { unread, received } = marks ?? { unread: 0, received: 0 };
  return tabBar(
    [
      {
        path: "/app",
        label: t("shell.tabs.masolo"),
        icon: "i-ph-chat-circle-dots-fill",
        isActive: true,
        mark: { count: unread, label: t("shell.unread", { count: unread }) },
      },
      { path: "/app/makutano", label: t("shell.tabs.makutano"), icon: "i-ph-phone" },
      { path: "/app/contacts", label: t("shell.tabs.contacts"), icon: "i-ph-address-book" },
      {
        path: "/app/senga",
        label: t("shell.tabs.senga"),
        icon: "i-ph-user-plus",
        mark: { count: received, label: t("shell.received", { count: received }) },
      },
      ...(hasTala ? [{ path: "/app/tala", label: t("shell.tabs.tala"), icon: "i-ph-eye" }] : []),
      { path: "/app/services", label: t("shell.tabs.services"), icon: "i-ph-squares-four" },
    ],
    t,
  );
};

/** Chips of the filters, of which the app draws the radio buttons. */
const filters = ({ archivedCount }: ListView, t: Translate): Markup => {
  const chip = (label: string, chosen = "border-line text-muted") =>
    markup`<span class="relative flex min-h-9 shrink-0 items-center rounded-full border px-2.5 text-sm ${chosen}">${label}</span>`;
  return markup`<div aria-hidden="true" class="spare flex shrink-0 gap-1.5 overflow-x-auto px-4 pb-3">
    ${chip(t("masolo.filter.all"), "border-accent bg-accent-soft font-semibold text-accent")}${chip(t("masolo.filter.unread"))}${chip(t("masolo.filter.groups"))}
    ${archivedCount !== 0 && chip(t("masolo.filter.archived"))}
  </div>`;
};

const archivedRow = (count: number | null, t: Translate): Markup =>
  markup`<button type="button" class="flex min-h-12 shrink-0 items-center gap-3 border-b border-line px-4 text-left hover:bg-raised">
    <span class="grid w-[50px] place-items-center text-2xl text-muted" aria-hidden="true"><span class="i-ph-archive"></span></span>
    <span class="min-w-0 flex-1 truncate font-semibold">${t("masolo.filter.archived")}</span>
    ${count !== null && countBadge(count, "", true)}
  </button>`;

/** Conversation list with header, search field and tab bar. */
export const renderListView = (view: ListView, t: Translate): Markup =>
  markup`<div class="flex min-h-0 flex-1"><div class="flex min-h-0 w-full shrink-0 flex-col border-line lg:w-[400px] lg:border-r">
    <section role="main" aria-labelledby="first-title" class="flex min-h-0 min-w-0 flex-1 flex-col bg-bg">
      <header class="screen-header z-10 flex h-[72px] shrink-0 items-center gap-1 border-b border-line bg-surface pr-2 pl-2">
        <div class="min-w-0 flex-1 pl-2"><h1 id="first-title" class="truncate font-bold text-[length:calc(1rem+4px)] leading-[min(1.75rem,42px)]">${t("masolo.title")}</h1></div>
        ${iconButton("i-ph-note-pencil", t("masolo.actions"))}
        <a href="/app/profile" aria-label="${t("shell.myProfile")}" title="${t("shell.myProfile")}" class="grid size-12 shrink-0 place-items-center rounded-full">${
          view.me ? avatar(view.me, 40) : markup`<span class="size-10 rounded-full bg-raised"></span>`
        }</a>
      </header>
      <div class="flex min-h-0 flex-1 flex-col">
        <div class="shrink-0 px-4 py-3"><search><form class="field flex min-h-12 items-center rounded-full border border-field bg-surface pl-4">
          <span class="i-ph-magnifying-glass shrink-0 text-xl text-muted" aria-hidden="true"></span>
          <input type="search" enterkeyhint="search" autocomplete="off" autocorrect="off" spellcheck="false" aria-label="${t("masolo.searchLabel")}" inputmode="search" placeholder="${t("masolo.searchHint")}" class="min-h-12 min-w-0 flex-1 appearance-none bg-transparent px-3 focus-visible:outline-none placeholder:text-muted">
        </form></search></div>
        ${filters(view, t)}
        ${view.archivedCount !== 0 && archivedRow(view.archivedCount, t)}
        <div class="min-h-0 flex-1 overflow-y-auto overscroll-contain"><ul data-rows aria-label="${t("masolo.list")}" class="relative">${view.entries.map((entry) => row(entry, view.now, t))}</ul></div>
      </div>
    </section>
    ${tabs(view, t)}
  </div></div>`;
