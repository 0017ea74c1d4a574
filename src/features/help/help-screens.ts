import type { TextKey } from "#i18n/setup.ts";

/** Screens that answers link to as `[name]`: their paths and titles. */
export const helpScreens = {
  masolo: { path: "/app", title: "masolo.title" },
  makutano: { path: "/app/makutano", title: "makutano.title" },
  contacts: { path: "/app/contacts", title: "contacts.title" },
  senga: { path: "/app/senga", title: "senga.title" },
  scan: { path: "/app/senga/scan", title: "scan.title" },
  invite: { path: "/app/senga/invite", title: "invite.title" },
  tala: { path: "/app/tala", title: "tala.title" },
  createGroup: { path: "/app/create-group", title: "groups.create.title" },
  starred: { path: "/app/starred", title: "starred.title" },
  profile: { path: "/app/profile", title: "profile.title" },
  number: { path: "/app/verify-number", title: "number.title" },
  handle: { path: "/app/handle", title: "handle.title" },
  appearance: { path: "/app/appearance", title: "appearance.title" },
  notifications: { path: "/app/notifications", title: "settings.notifications.title" },
  privacy: { path: "/app/privacy", title: "settings.privacy.title" },
  security: { path: "/app/security", title: "security.title" },
  blocked: { path: "/app/blocked", title: "blocked.title" },
  install: { path: "/app/install", title: "install.title" },
} as const satisfies Record<string, { path: string; title: TextKey }>;
export type HelpScreenName = keyof typeof helpScreens;
