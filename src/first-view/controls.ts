import { tickClasses } from "#components/messages/tick-classes.ts";
import { type AvatarPerson, getAvatarSeed, getInitials, toPersonHue } from "#components/people/avatar-text.ts";
import type { Translate } from "#i18n/setup.ts";
import type { DisplayedStatus } from "#sync/store/view-models.ts";
import { type Markup, markup } from "./markup.ts";

/**
 * Markup of the app's shared controls, with the classes of the components of the same name. Inline styles are forbidden
 * by the content security policy, so sizes and colours are classes here.
 */

const iconButtonClasses = "inline-grid size-12 shrink-0 place-items-center rounded-full text-[24px] hover:bg-raised";

/** Button that works once the app has loaded: a press before is repeated then (`script/composer.ts`). */
export const iconButton = (icon: string, label: string, classes = ""): Markup =>
  markup`<button type="button" aria-label="${label}" title="${label}" class="${iconButtonClasses} ${classes}">
    <span class="${icon}" aria-hidden="true"></span></button>`;

export const iconLink = (path: string, icon: string, label: string): Markup =>
  markup`<a href="${path}" aria-label="${label}" title="${label}" class="${iconButtonClasses}"><span class="${icon}" aria-hidden="true"></span></a>`;

const avatarSizes = {
  50: "size-[50px] text-[19px]",
  40: "size-[40px] text-[15.2px]",
  32: "size-[32px] text-[12.16px]",
} as const;
const emptyAvatarSizes = { 50: "text-[30px]", 40: "text-[24px]", 32: "text-[19.2px]" } as const;
const hueClasses: Readonly<Record<number, string>> = {
  322: "bg-[hsl(322_45%_35%)]",
  350: "bg-[hsl(350_45%_35%)]",
  14: "bg-[hsl(14_45%_35%)]",
  32: "bg-[hsl(32_45%_35%)]",
  165: "bg-[hsl(165_45%_35%)]",
  190: "bg-[hsl(190_45%_35%)]",
  212: "bg-[hsl(212_45%_35%)]",
  250: "bg-[hsl(250_45%_35%)]",
  280: "bg-[hsl(280_45%_35%)]",
};

/** Avatar with initials. Pictures are left to the app: on a slow network they would delay its code. */
export const avatar = (person: AvatarPerson, size: keyof typeof avatarSizes): Markup => {
  if (person.deleted) {
    return markup`<span aria-hidden="true" class="inline-grid shrink-0 place-items-center rounded-full bg-raised text-muted ${avatarSizes[size]}">
      <span class="i-ph-user-circle-dashed ${emptyAvatarSizes[size]}"></span></span>`;
  }
  return markup`<span aria-hidden="true" data-initials="${getInitials(getAvatarSeed(person))}" class="relative inline-grid shrink-0 place-items-center overflow-hidden font-semibold text-white select-none before:content-[attr(data-initials)] rounded-full ${avatarSizes[size]} ${hueClasses[toPersonHue(person)]}"></span>`;
};

export const ticks = (status: DisplayedStatus, t: Translate): Markup =>
  markup`<span role="img" aria-label="${t(`chat.status.${status}`)}" class="${tickClasses[status]} shrink-0 text-base"></span>`;

const badgeCountMax = 99;

export const countBadge = (count: number | "@" | "", label: string, quiet = false, classes = ""): Markup =>
  markup`<span class="inline-grid min-h-5 min-w-5 place-items-center rounded-full px-1.5 text-xs leading-none font-bold tabular-nums ${quiet ? "bg-raised text-muted" : "bg-accent text-on-accent"} ${classes}">
    <span aria-hidden="true">${typeof count === "number" && count > badgeCountMax ? `${badgeCountMax}+` : count}</span>
    <span class="sr-only">${label}</span></span>`;

type TabMark = { count: number; label: string } | undefined;
type Tab = { path: string; label: string; icon: string; isActive?: boolean; mark?: TabMark };

/** Tab bar at the bottom of the list screens. */
export const tabBar = (tabs: readonly Tab[], t: Translate): Markup =>
  markup`<nav aria-label="${t("shell.navigation")}" class="tab-bar z-10 shrink-0 border-t border-line bg-surface pb-safe"><ul class="flex h-16">${tabs.map(
    ({ path, label, icon, isActive = false, mark }) =>
      markup`<li class="min-w-0 flex-1"><a href="${path}" ${isActive ? markup`aria-current="page"` : ""} class="flex h-full flex-col items-center justify-center gap-0.5 -outline-offset-3 ${isActive ? "text-accent" : "text-muted hover:text-text"}">
        <span class="relative grid h-8 w-14 max-w-full place-items-center rounded-full ${isActive ? "bg-accent-soft" : ""}">
          <span class="text-[24px] ${icon}" aria-hidden="true"></span>
          ${mark && mark.count > 0 && countBadge(mark.count, mark.label, false, "absolute -top-1 left-1/2 ml-1")}
        </span>
        <span class="tab-label max-w-full truncate leading-normal tracking-tight ${isActive ? "font-bold" : "font-medium"}">${label}</span>
      </a></li>`,
  )}</ul></nav>`;
