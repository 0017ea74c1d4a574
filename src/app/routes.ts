// @unocss-include – the icons below are classes, and only component files are searched for those by default.
import { matchPath } from "react-router";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { createLazyScreen, createScreen, type LazyScreen } from "./lazy-screen.tsx";

/**
 * All routes of SPEC.md §2. On a wide screen a `list` is shown to the left of a chat and a `detail` to the right of the
 * conversation list; a `feed` is also shown there, as one column. On a phone each fills the screen.
 */
export type AppRoute = { path: string; pane: "list" | "detail" | "feed"; screen: LazyScreen };

/** Pane of a route; on a phone a feed counts as a list. */
export const resolvePane = ({ pane }: AppRoute, isWide: boolean): "list" | "detail" =>
  pane === "feed" ? (isWide ? "detail" : "list") : pane;

const listScreen = createScreen(() => import("#features/conversations/conversations-screen.tsx"));
const privateChatScreen = createScreen(() => import("#features/chat/private-chat-screen.tsx"));
const groupChatScreen = createScreen(() => loadWithIdleTexts(() => import("#features/chat/group-chat-screen.tsx")));

export const appRoutes: AppRoute[] = [
  { path: "/app", pane: "list", screen: listScreen },
  {
    path: "/app/contacts",
    pane: "list",
    screen: createLazyScreen(() => import("#features/contacts/contacts-screen.tsx")),
  },
  { path: "/app/senga", pane: "list", screen: createLazyScreen(() => import("#features/people/people-screen.tsx")) },
  {
    path: "/app/makutano",
    pane: "list",
    screen: createLazyScreen(() => import("#features/calls/log/call-log-screen.tsx")),
  },
  { path: "/app/tala", pane: "feed", screen: createLazyScreen(() => import("#features/tala/tala-screen.tsx")) },
  {
    path: "/app/services",
    pane: "list",
    screen: createLazyScreen(() => import("#features/services/services-screen.tsx")),
  },
  { path: "/app/chat/:userId", pane: "detail", screen: privateChatScreen },
  {
    path: "/app/user/:userId",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/contacts/person-screen.tsx")),
  },
  {
    path: "/app/profile",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/profile/profile-screen.tsx")),
  },
  { path: "/app/group/:groupId", pane: "detail", screen: groupChatScreen },
  {
    path: "/app/group/:groupId/members",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/groups/members-screen.tsx")),
  },
  {
    path: "/app/create-group",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/groups/create/create-group-screen.tsx")),
  },
  {
    path: "/app/blocked",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/contacts/blocked-screen.tsx")),
  },
  {
    path: "/app/appearance",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/profile/appearance-screen.tsx")),
  },
  {
    path: "/app/notifications",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/settings/notifications-screen.tsx")),
  },
  {
    path: "/app/privacy",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/settings/privacy-screen.tsx")),
  },
  {
    path: "/app/security",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/security/security-screen.tsx")),
  },
  { path: "/app/handle", pane: "detail", screen: createLazyScreen(() => import("#features/handle/handle-screen.tsx")) },
  {
    path: "/app/verify-number",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/security/number/verify-number-screen.tsx")),
  },
  {
    path: "/app/v/:token",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/security/number/vouch-screen.tsx")),
  },
  { path: "/app/u/:token", pane: "detail", screen: createLazyScreen(() => import("#features/people/link-screen.tsx")) },
  {
    path: "/app/senga/scan",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/handle/scan/scan-screen.tsx")),
  },
  {
    path: "/app/senga/invite",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/people/invite/invite-screen.tsx")),
  },
  {
    path: "/app/install",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/install/install-screen.tsx")),
  },
  {
    path: "/app/share/:shareId",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/share/share-screen.tsx")),
  },
  {
    path: "/app/starred",
    pane: "detail",
    screen: createLazyScreen(() => import("#features/starred/starred-screen.tsx")),
  },
  { path: "/app/help", pane: "detail", screen: createLazyScreen(() => import("#features/help/help-screen.tsx")) },
];

export const findAppRoute = (pathname: string): AppRoute | undefined =>
  appRoutes.find((route) => matchPath(route.path, pathname));

/** Fetches the code of the conversation list, the chats and the menus over them, so that they open at once. */
export const preloadChats = async (): Promise<void> => {
  const preloadMenus = () => import("#components/overlays/menu-popup.tsx").catch(() => undefined);
  for (const load of [listScreen.preload, privateChatScreen.preload, preloadMenus, groupChatScreen.preload])
    await load();
};

/** Six tabs of SPEC.md §2; their names are the same words in every language. */
export const appTabs = [
  { id: "masolo", path: "/app", icon: "i-ph-chat-circle-dots", activeIcon: "i-ph-chat-circle-dots-fill" },
  { id: "makutano", path: "/app/makutano", icon: "i-ph-phone", activeIcon: "i-ph-phone-fill" },
  { id: "contacts", path: "/app/contacts", icon: "i-ph-address-book", activeIcon: "i-ph-address-book-fill" },
  { id: "senga", path: "/app/senga", icon: "i-ph-user-plus", activeIcon: "i-ph-user-plus-fill" },
  { id: "tala", path: "/app/tala", icon: "i-ph-eye", activeIcon: "i-ph-eye-fill" },
  { id: "services", path: "/app/services", icon: "i-ph-squares-four", activeIcon: "i-ph-squares-four-fill" },
] as const;
export type TabId = (typeof appTabs)[number]["id"];

const isUnderPath = (pathname: string, prefix: string): boolean =>
  pathname === prefix || pathname.startsWith(`${prefix}/`);

/** Tab whose path is a prefix of `pathname`. The path of Masolo is one of every path, so it counts alone. */
export const findActiveTab = (pathname: string): TabId | undefined =>
  appTabs.find(({ id, path }) => (id === "masolo" ? pathname === path : isUnderPath(pathname, path)))?.id;
