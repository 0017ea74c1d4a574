import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";

// Used by vite.config.ts: assignment of the client's modules to files (docs/decisions/client-bundles.md). Each part is
// one file: everything its roots reach by static imports that no earlier part contains. A root is a module that no other
// root of its part reaches, or a folder ("…/") of which no module loads earlier: lazy-styles.mjs adds styles to each root
// of a later part. Modules outside all parts are split by Rolldown.

/** @typedef {{ name: string, roots: string[] }} Part */

/** Libraries of every document. They change only with a new version, so the browser keeps their file over releases. */
const vendorPackages = ["react", "react-dom", "scheduler", "i18next", "react-i18next"];
const vendorPart = "vendor";
/** Libraries that only the app needs: the store's, which is requested first, and that of the screens. */
const appVendorParts = { dexie: ["dexie"], router: ["react-router"] };
/** Stylesheet of all parts that load after a page (lazy-styles.mjs). */
const lazyStylesPart = "lazy-styles";

/**
 * What `base` and `engine` have in common, without React, and the library of its schemas: the store is opened before
 * React has arrived.
 */
const corePart = "core";
const corePackages = ["valibot"];

/**
 * Code of every document, and the modules that the forms, passkeys and the second factor share with the app: if only the
 * app's part had them, the log-in page would load all of it.
 */
const basePart = {
  name: "base",
  roots: [
    "src/entry.tsx",
    "src/components/controls/button.tsx",
    "src/components/controls/password-field.tsx",
    "src/i18n/format.ts",
    "src/i18n/use-format.ts",
    "src/lib/browser/network-info.ts",
    "src/lib/session/session-ended-note.ts",
    "src/lib/media/avatar-file.ts",
    "src/lib/session/change-password.ts",
    "src/lib/factors/pending-registration.ts",
    "src/lib/factors/passkey-error.ts",
    "src/lib/factors/passkeys.ts",
    "src/lib/session/sign-in.ts",
    "src/lib/browser/form-restore.ts",
    "contract/auth/security.ts",
  ],
};
/** Parts that the forms and pages of the app request. */
const signInParts = [
  // OAuth flow.
  { name: "providers", roots: ["src/lib/factors/oauth.ts"] },
  // Crop of a profile picture: at registration and in the profile.
  { name: "cropper", roots: ["src/components/people/picture-cropper.tsx"] },
  // Second factor: at log-in and for step-up.
  { name: "steps", roots: ["src/components/auth/second-factor-panel.tsx"] },
];
/** Local store and outbox, and what reads the first screen from them. */
const enginePart = {
  name: "engine",
  roots: ["src/main.ts"],
};
const appParts = [
  enginePart,
  // Everything else needed to open the app, and what the pages below share.
  { name: "app", roots: ["src/app-root.tsx"] },
];

/**
 * Pages that open first. A document preloads its own (src/prerender/app-shell.ts), the app fetches the others when it is
 * idle. Modules of several pages belong to `app`.
 * @type {Part[]}
 */
const pageParts = [
  { name: "list", roots: ["src/features/conversations/masolo-screen.tsx"] },
  { name: "chat", roots: ["src/features/chat/private-chat-screen.tsx"] },
];
const sharedPagePart = "app";
/** Connection to the server, requested once the first screen is drawn. */
const connectionPart = {
  name: "connection",
  roots: [
    "src/sync/server-code.ts",
    "src/sync/connection/http-command.ts",
    "src/sync/presence/presence-poller.ts",
    "src/sync/inbound/member-loader.ts",
  ],
};
/** Also uses the modules of `chat`. */
const groupChatPart = { name: "group-chat", roots: ["src/features/chat/group-chat-screen.tsx"] };

/** Modules of `base` that only the entry pages and lazy parts use. */
const formsPart = "forms";

/**
 * Parts that pages of the app request once they are rendered. Modules that lazy parts need too stay here: in
 * `shared` they would bring all of it, and the lazy icons, to every chat.
 * @type {Part[]}
 */
const idleParts = [
  // Menus and confirmations, which open over every page.
  {
    name: "dialogs",
    roots: [
      "src/components/overlays/menu-popup.tsx",
      "src/components/people/person-dialogs.tsx",
      "src/features/chat/header/chat-menus.tsx",
    ],
  },
  // Tools of message fields: formats, emoji button, attachments.
  {
    name: "composer",
    roots: [
      "src/features/chat/composer/attach-menu.tsx",
      "src/features/chat/composer/attach-shortcuts.tsx",
      "src/features/chat/field/field-tools.tsx",
      "src/features/chat/composer/file-drop.tsx",
    ],
  },
  // Rare notices of chats, and what the menus and panels of chats have in common.
  {
    name: "notices",
    roots: [
      "src/features/chat/composer/private-chat-notices.tsx",
      "src/features/chat/message/failed-message.tsx",
      "src/components/overlays/copy-text.ts",
      "src/sync/message-actions.ts",
      "src/sync/files/retry-message.ts",
    ],
  },
  // Announces messages that arrive in other conversations.
  { name: "notifier", roots: ["src/features/notifier/notifier.tsx"] },
  // Notifications while the app is closed: requested where they are on, and once a message was sent.
  { name: "push", roots: ["src/features/push/push-host.tsx", "src/lib/push/browser-push.ts"] },
];

/** @type {Part[]} */
const lazyParts = [
  // Chat content other than text.
  {
    name: "media",
    roots: [
      "src/features/chat/message/call-message.tsx",
      "src/features/chat/attachments/file-attachment.tsx",
      "src/features/chat/unsent/unsent-content.tsx",
      "src/features/chat/attachments/image-attachment.tsx",
      "src/features/chat/attachments/image-viewer.tsx",
      "src/features/chat/attachments/voice-message.tsx",
      "src/features/chat/attachments/voice-bar.tsx",
      "src/features/chat/header/pinned-bar.tsx",
      "src/features/chat/reply/quote.tsx",
      "src/features/chat/reply/reply-bar.tsx",
      "src/features/chat/reply/return-button.tsx",
      "src/features/chat/reply/swipe-gesture.ts",
      "src/features/chat/reactions/reaction-pills.tsx",
      "src/sync/files/download-cache.ts",
    ],
  },
  // Preparing and sending files and voice messages.
  {
    name: "sending",
    roots: [
      "src/features/chat/composer/attach-sheet.tsx",
      "src/components/overlays/camera-sheet.tsx",
      "src/features/chat/voice/recorder-panel.tsx",
      "src/features/chat/voice/voice-recording.ts",
      "src/lib/media/post-picture.ts",
      "src/lib/media/image-resize.ts",
      "src/sync/files/send-files.ts",
      "src/sync/drafts/draft-keeper.ts",
      "src/sync/files/uploader.ts",
    ],
  },
  // Dialogs and menus over the list and a chat.
  {
    name: "menus",
    roots: [
      "src/components/people/mute-dialog.tsx",
      "src/features/chat/edit/edit-composer.tsx",
      "src/features/chat/edit/failed-edit.tsx",
      "src/features/chat/message/menu/forward-dialog.tsx",
      "src/features/chat/message/menu/message-actions.tsx",
      "src/features/chat/message/menu/receipts-sheet.tsx",
      "src/features/chat/reactions/reactors-sheet.tsx",
      "src/sync/message-flags/delete-for-self.ts",
      "src/sync/message-flags/set-message-flags.ts",
      "src/sync/reactions/set-reaction.ts",
      "src/features/chat/search/search-panel.tsx",
      "src/features/conversations/broadcast-sheet.tsx",
      "src/features/conversations/delete-conversation-dialog.tsx",
      "src/features/conversations/empty-filter.tsx",
      "src/features/conversations/flag-actions.ts",
      "src/features/conversations/row-menu.tsx",
      "src/features/conversations/new-chat-sheet.tsx",
      "src/sync/outbox/edit-message.ts",
      "src/sync/outbox/edit-sender.ts",
      "src/sync/outbox/multicast.ts",
    ],
  },
  // Creating and managing groups.
  {
    name: "groups",
    roots: ["src/features/groups/"],
  },
  // Calls: ringing, media and their screens.
  {
    name: "calls",
    roots: [
      "src/calls/controller/start.ts",
      "src/calls/ui/data-cost-dialog.tsx",
      "src/features/calls/host/call-layer.tsx",
    ],
  },
  {
    name: "screens",
    roots: [
      "src/components/layout/virtual-rows.tsx",
      "src/features/contacts/",
      "src/features/makutano/",
      "src/features/profile/",
      "src/features/senga/",
      "src/features/services/",
      "src/features/settings/",
      "src/features/starred/",
    ],
  },
  // Own handle and personal link.
  { name: "handle", roots: ["src/features/handle/handle-screen.tsx"] },
  // Scanning of QR codes, without the library that only some browsers need.
  { name: "scan", roots: ["src/features/handle/scan/scan-screen.tsx"] },
  // Verification of the own number.
  { name: "number", roots: ["src/features/security/number/"] },
  // Account security and step-up.
  {
    name: "security",
    roots: ["src/components/auth/reauthenticate-dialog.tsx", "src/features/security/security-screen.tsx"],
  },
  // Feed of statuses, and the sender of own ones.
  { name: "tala", roots: ["src/features/tala/tala-screen.tsx", "src/sync/feed/post-sender.ts"] },
  // Sending what other apps share.
  { name: "share", roots: ["src/features/share/", "src/lib/browser/share/stored-share.ts"] },
  // Installing the app.
  { name: "install", roots: ["src/features/install/"] },
  // Help answers in all languages.
  { name: "help", roots: ["src/features/help/help-screen.tsx"] },
];

/** Modules shared by several lazy parts. */
const sharedPart = "shared";

/** Scripts named by documents, kept separate from the code they run. */
const documentScripts = ["src/main.ts", "src/app-root.tsx", "src/entry.tsx", "src/entry-screens.tsx"];

/** @typedef {{ importedIds: readonly string[], dynamicallyImportedIds?: readonly string[] }} ModuleImports */
/** @typedef {{ getModuleInfo: (id: string) => ModuleImports | null }} ModuleGraph */

/** @param {string} path */
export const toModuleId = (path) => join(root, path).replaceAll("\\", "/");

/**
 * Modules that a root stands for.
 * @param {string} path
 */
function listModules(path) {
  if (!path.endsWith("/")) return [toModuleId(path)];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).replaceAll("\\", "/"));
}

/**
 * @param {ModuleGraph} graph
 * @param {string[]} roots
 * @param {(id: string) => boolean} isTaken
 */
function collectReachable(graph, roots, isTaken) {
  /** @type {Set<string>} */
  const reached = new Set();
  const walk = (id) => {
    if (reached.has(id) || isTaken(id)) return;
    reached.add(id);
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) walk(imported);
  };
  for (const path of roots) {
    const ids = listModules(path).filter((id) => graph.getModuleInfo(id));
    if (ids.length === 0) throw new Error(`scripts/build/chunks.mjs names ${path}, which is not part of the client`);
    for (const id of ids) walk(id);
  }
  return reached;
}

const getPackageFolder = (name) => `/node_modules/${name}/`;
/** @param {string} id */
const findFixedPart = (id) => {
  if (/vite\/preload-helper|@oxc-project|rolldown\/runtime/.test(id)) return corePart; // helpers that the build adds to other modules
  if (/virtual:lazy-styles|__uno_lazy/.test(id)) return lazyStylesPart;
  const packageParts = { [corePart]: corePackages, [vendorPart]: vendorPackages, ...appVendorParts };
  return Object.entries(packageParts).find(([, packages]) =>
    packages.some((name) => id.includes(getPackageFolder(name))),
  )?.[0];
};

/** @param {ModuleGraph} graph */
function assignParts(graph) {
  /** @type {Map<string, string>} */
  const partOf = new Map();
  const isTaken = (id) => partOf.has(id) || findFixedPart(id) !== undefined;
  const assignInOrder = (parts) => {
    for (const { name, roots } of parts) for (const id of collectReachable(graph, roots, isTaken)) partOf.set(id, name);
  };
  /** Modules reached by several of these parts go to another part. */
  const assignSideBySide = (parts, shared) => {
    const reached = parts.map(({ name, roots }) => ({ name, ids: collectReachable(graph, roots, isTaken) }));
    for (const { name, ids } of reached) for (const id of ids) partOf.set(id, partOf.has(id) ? shared : name);
  };
  const ofEngine = collectReachable(graph, enginePart.roots, isTaken);
  for (const id of collectReachable(graph, basePart.roots, isTaken)) if (ofEngine.has(id)) partOf.set(id, corePart);
  assignInOrder([basePart, ...signInParts, ...appParts]);
  const ofApp = collectReachable(
    graph,
    ["src/main.ts", "src/app-root.tsx", ...pageParts.flatMap(({ roots }) => roots)],
    () => false,
  );
  for (const [id, name] of partOf) if (name === basePart.name && !ofApp.has(id)) partOf.set(id, formsPart);
  assignSideBySide(pageParts, sharedPagePart);
  assignInOrder([connectionPart, groupChatPart, ...idleParts]);
  assignSideBySide(lazyParts, sharedPart);
  for (const path of documentScripts) partOf.delete(toModuleId(path));
  return partOf;
}

/** @type {Map<string, string> | undefined} */
let partByModule;

/**
 * Whether a module is a root of a part that loads after the page.
 * @param {string} id
 */
export const isLazyPartRoot = (id) =>
  [...idleParts, ...lazyParts].some(({ roots }) =>
    roots.some((path) => (path.endsWith("/") ? id.startsWith(toModuleId(path)) : toModuleId(path) === id)),
  );

/**
 * Valid after the chunks were assigned.
 * @param {string} id @param {string} name
 */
export const isInPart = (id, name) => partByModule?.get(id) === name;

/**
 * Whether a module is loaded before the list or a private chat is usable. Valid after the chunks were assigned.
 * @param {string} id
 */
export const isPageModule = (id) =>
  documentScripts.some((path) => toModuleId(path) === id) ||
  [corePart, ...[basePart, ...appParts, ...pageParts].map(({ name }) => name)].includes(partByModule?.get(id) ?? "");

const openingParts = [...signInParts, ...appParts, ...pageParts, connectionPart, groupChatPart, ...idleParts];

/**
 * Whether a module is loaded before a chat or another first page is usable. Valid after the chunks were assigned.
 * @param {string} id
 */
export const isInitialModule = (id) => isPageModule(id) || partByModule?.get(id) === groupChatPart.name;

const partNames = [
  corePart,
  vendorPart,
  ...Object.keys(appVendorParts),
  lazyStylesPart,
  basePart.name,
  formsPart,
  ...openingParts.map(({ name }) => name),
  sharedPart,
  ...lazyParts.map(({ name }) => name),
];

/**
 * Whether a built file is loaded by every page that can import others dynamically.
 * @param {string} path
 */
export const isAlwaysLoaded = (path) =>
  [corePart, vendorPart, ...Object.keys(appVendorParts), "base", "engine", "app", "rolldown-runtime"].some((name) =>
    new RegExp(`^assets/${name}-[\\w-]{8}\\.js$`).test(path),
  );

// Rolldown puts a module's imports into the same file, unless a group of higher priority contains them.
export const chunkGroups = partNames.map((name, index) => ({
  /**
   * @param {string} id
   * @param {ModuleGraph} graph
   */
  name: (id, graph) => {
    partByModule ??= assignParts(graph);
    return (findFixedPart(id) ?? partByModule.get(id)) === name ? name : null;
  },
  priority: partNames.length - index,
}));
