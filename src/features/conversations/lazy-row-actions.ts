import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";

// Code of the menus and gestures of the list, loaded when the app is idle or with their first use.

export const RowMenu = lazyOverlay(() => import("./row-menu.tsx"));
export const EmptyFilter = lazyComponent(() => loadWithIdleTexts(() => import("./empty-filter.tsx")));

let swipes: typeof import("./flag-actions.ts") | undefined;

/** Follows a finger on a row. Once the code is loaded it begins at once, so that no movement is missed. */
export const startFlagSwipe = (row: HTMLElement, down: PointerEvent, item: ConversationListItem): void => {
  if (swipes) swipes.trackFlagSwipe(row, down, item);
  else
    loadWithIdleTexts(() => import("./flag-actions.ts")).then(
      (code) => {
        swipes = code;
        code.trackFlagSwipe(row, down, item);
      },
      () => {}, // offline: the menu has the same actions
    );
};
