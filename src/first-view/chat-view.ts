import { toDisplayName } from "#components/people/person-name.ts";
import { toMessagePlacement } from "#features/chat/message/message-layout.ts";
import type { Translate } from "#i18n/setup.ts";
import { avatar, iconButton, iconLink } from "./controls.ts";
import { type Markup, markup } from "./markup.ts";
import { renderChatStart, renderMessage, renderPinned, renderSentTemplate } from "./message-view.ts";
import type { ChatViewData } from "./view-data.ts";

/** Chat with its newest messages and a composer that takes text before the app has loaded. */

const header = (chat: ChatViewData, t: Translate): Markup => {
  const { name, peer, conversation, memberCount } = chat;
  const profilePath = peer === undefined ? `/app/group/${conversation}/members` : `/app/user/${peer}`;
  return markup`<header class="screen-header z-10 flex h-[72px] shrink-0 items-center gap-1 border-b border-line bg-surface pr-2 pl-2">
    ${iconLink("/app", "i-ph-arrow-left-bold", t("common.back"))}
    <div class="min-w-0 flex-1 "><h1 id="first-title" class="truncate font-bold text-[length:calc(1rem+4px)] leading-[min(1.75rem,42px)]">
      <a href="${profilePath}" class="flex min-h-12 w-fit max-w-full items-center gap-2 rounded-card pr-1 -outline-offset-3 sm:gap-3 sm:pr-2">${avatar(chat.person, 40)}
        <span class="flex max-h-[70px] min-w-0 flex-col flex-wrap content-start justify-center overflow-hidden">
          <span class="flex w-full items-center gap-1.5"><bdi class="line-clamp-2 min-w-0 text-[length:min(1rem,20px)] leading-[1.25] break-words whitespace-normal sm:text-[length:min(1.125rem,20px)]">${name}</bdi>${
            chat.isMuted &&
            markup`<span role="img" aria-label="${t("mute.isOn")}" class="i-ph-bell-slash shrink-0 text-base text-muted"></span>`
          }</span>${
            memberCount !== undefined &&
            markup`<span class="w-full truncate text-[length:min(0.8125rem,15px)] leading-[1.3] sm:text-[length:min(0.875rem,15px)] font-normal text-muted">${t("groups.chat.members", { count: memberCount })}</span>`
          }
        </span>
      </a>
    </h1></div>
    <div class="-mr-2 flex shrink-0 sm:mr-0"><div class="calls">${
      peer === undefined
        ? iconButton("i-ph-phone", t("groups.chat.call"))
        : [
            iconButton("i-ph-phone", t("people.audioCallName", { name })),
            iconButton("i-ph-video-camera", t("people.videoCallName", { name })),
          ]
    }</div>${iconButton("i-ph-dots-three-vertical-bold", t("common.more"))}</div>
  </header>`;
};

/** The button records while the field is empty; `script/composer.ts` shows the other icon. */
const composer = (
  t: Translate,
): Markup => markup`<form id="first-composer" method="dialog" class="relative shrink-0 border-t border-line bg-surface px-2 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]">
  <div class="flex items-end gap-x-1 sm:gap-x-2">
    ${iconButton("i-ph-plus", t("chat.attach.menu"), "text-muted hover:text-text")}
    <span class="hidden w-26 shrink-0 sm:block"></span>
    <textarea rows="1" dir="auto" enterkeyhint="send" autocomplete="off" aria-label="${t("chat.composer")}" placeholder="${t("chat.placeholder")}" class="block min-h-12 max-h-[144px] [field-sizing:content] min-w-0 flex-1 rounded-[24px] border border-field bg-bg px-4 py-[11px] leading-6 placeholder:overflow-hidden placeholder:text-ellipsis placeholder:whitespace-nowrap focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0 pr-12!"></textarea>
    <button type="submit" aria-label="${t("chat.voice.record")}" title="${t("chat.voice.record")}" data-record="${t("chat.voice.record")}" data-send="${t("chat.send")}" class="grid size-12 shrink-0 touch-none select-none place-items-center rounded-full bg-accent text-[20px] text-on-accent hover:bg-accent-hover"><span class="i-ph-microphone-fill" aria-hidden="true"></span><span hidden class="i-ph-paper-plane-right-fill" aria-hidden="true"></span></button>
  </div>
</form>`;

export const renderChatView = (data: ChatViewData, t: Translate): Markup => {
  // A person may have no name yet.
  const chat = data.peer === undefined ? data : { ...data, name: toDisplayName(data.person, t) };
  const { messages } = chat;
  const rows = messages
    .map((entry, index) =>
      renderMessage(
        entry,
        messages[index - 1],
        toMessagePlacement(entry, messages[index - 1], chat.members && { older: messages[index + 1] }),
        chat,
        t,
      ),
    )
    .reverse();
  return markup`<div class="flex min-h-0 flex-1"><div class="max-lg:hidden w-[400px] shrink-0 border-r border-line"></div><div class="flex min-h-0 min-w-0 flex-1 flex-col">
    <section role="main" aria-labelledby="first-title" class="flex min-h-0 min-w-0 flex-1 flex-col bg-bg">${header(chat, t)}
      ${renderPinned(chat, t)}
      <div class="relative flex min-h-0 flex-1 flex-col">
        <div id="first-scroller" class="flex min-h-0 flex-1 flex-col-reverse overflow-y-auto overscroll-contain"><div class="relative w-full shrink-0 pt-14 pb-3">
          <div class="absolute inset-x-0 top-0 flex h-14 flex-col items-center justify-end px-4 text-center text-xs text-muted">${!chat.hasOlder && renderChatStart(messages.at(-1)?.at, chat.now, t)}</div>
          <ol aria-label="${t("chat.messages", { name: chat.name })}" class="relative">${rows}</ol>
        </div></div>
      </div>
      ${composer(t)}${renderSentTemplate(chat, t)}
    </section>
  </div></div>`;
};
