import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";

// For vite.config.ts: the files the client's code comes in (docs/decisions/client-bundles.md). Each part is one file:
// what its roots reach by static imports and no part before it has. A root is a module, or a folder ("…/") with all of its. What no part reaches is split as Rolldown does it.

/** @typedef {{ name: string, roots: string[] }} Part */

/** @type {Part[]} */
const initialParts = [
  // What every document runs, and the little that the forms, passkeys and the second step share with the app: a part that
  // only the app has would bring all of it to the log-in page.
  {
    name: "base",
    roots: [
      "src/entry.tsx",
      "src/components/controls/button.tsx",
      "src/components/controls/password-field.tsx",
      "src/components/controls/text-field.tsx",
      "src/i18n/format.ts",
      "src/lib/http/api.ts",
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
  },
  // The way to another provider and back: from the forms, and from the security page.
  { name: "providers", roots: ["src/lib/factors/oauth.ts"] },
  // The second step: at log-in, and before what asks for a proof.
  { name: "steps", roots: ["src/components/auth/second-factor-panel.tsx"] },
  // All it takes to open the app, see the list and talk in a chat.
  { name: "app", roots: ["src/main.tsx"] },
];

/**
 * Parts that every page of the app asks for once it is drawn. Modules that later parts need too stay in them: in `shared`
 * they would bring all of it, and the later icons, to every chat.
 * @type {Part[]}
 */
const idleParts = [
  // Announces messages that arrive in other conversations.
  { name: "notifier", roots: ["src/features/notifier/notifier.tsx"] },
];

/** @type {Part[]} */
const lazyParts = [
  // What a chat shows besides texts.
  {
    name: "media",
    roots: [
      "src/features/chat/message/call-message.tsx",
      "src/features/chat/attachments/file-attachment.tsx",
      "src/features/chat/unsent/unsent-content.tsx",
      "src/features/chat/attachments/image-attachment.tsx",
      "src/features/chat/attachments/image-viewer.tsx",
      "src/features/chat/attachments/voice-message.tsx",
      "src/sync/files/download-cache.ts",
    ],
  },
  // What files and voice messages are made and sent with.
  {
    name: "sending",
    roots: [
      "src/features/chat/composer/attach-sheet.tsx",
      "src/components/overlays/camera-sheet.tsx",
      "src/features/chat/voice/recorder-panel.tsx",
      "src/features/chat/voice/voice-recording.ts",
      "src/lib/media/post-picture.ts",
      "src/lib/media/prepare-attachment.ts",
      "src/lib/media/image-resize.ts",
      "src/sync/files/send-files.ts",
      "src/sync/drafts/draft-keeper.ts",
      "src/sync/store/upload-rows.ts",
      "src/sync/files/uploader.ts",
    ],
  },
  // What opens over the list and over a chat.
  {
    name: "deeds",
    roots: [
      "src/features/chat/message/forward-dialog.tsx",
      "src/features/chat/message/message-menu.tsx",
      "src/features/chat/message/receipts-sheet.tsx",
      "src/features/chat/search/search-panel.tsx",
      "src/features/conversations/broadcast.tsx",
      "src/features/conversations/new-chat.tsx",
      "src/sync/outbox/multicast.ts",
    ],
  },
  // Making a group, its members and what is done with them.
  {
    name: "groups",
    roots: ["src/features/groups/"],
  },
  // A call: what rings, what carries voices and pictures, and what shows of it.
  {
    name: "calls",
    roots: [
      "src/calls/ui/call-bar.tsx",
      "src/calls/controller/start.ts",
      "src/calls/ui/data-cost-dialog.tsx",
      "src/features/calls/host/call-layer.tsx",
      "src/features/calls/host/call-notices.ts",
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
    ],
  },
  // How the account is kept, and what asks for a proof before it is changed.
  {
    name: "security",
    roots: ["src/components/auth/reauthenticate-dialog.tsx", "src/features/security/security-screen.tsx"],
  },
  // The feed of statuses, and what brings one's own to the server.
  { name: "tala", roots: ["src/features/tala/tala-screen.tsx", "src/sync/feed/post-sender.ts"] },
  // The answers in all languages.
  { name: "help", roots: ["src/features/help/help-screen.tsx"] },
];

/** What several of the later parts need. */
const sharedPart = "shared";

/** The scripts that documents name stay apart from what they run. */
const documentScripts = ["src/main.tsx", "src/entry.tsx", "src/entry-screens.tsx"];

/** @typedef {{ importedIds: readonly string[], dynamicallyImportedIds?: readonly string[] }} ModuleImports */
/** @typedef {{ getModuleInfo: (id: string) => ModuleImports | null }} ModuleGraph */

const toModuleId = (path) => join(root, path).replaceAll("\\", "/");

/** The modules that a root stands for. @param {string} path */
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
    if (ids.length === 0) throw new Error(`scripts/build/chunks.mjs names ${path}, which the client does not have`);
    for (const id of ids) walk(id);
  }
  return reached;
}

/** @param {ModuleGraph} graph */
function assignParts(graph) {
  /** @type {Map<string, string>} */
  const partOf = new Map();
  const isTaken = (id) => partOf.has(id);
  for (const { name, roots } of [...initialParts, ...idleParts]) {
    for (const id of collectReachable(graph, roots, isTaken)) partOf.set(id, name);
  }
  const reached = lazyParts.map(({ name, roots }) => ({ name, ids: collectReachable(graph, roots, isTaken) }));
  for (const { name, ids } of reached) for (const id of ids) partOf.set(id, partOf.has(id) ? sharedPart : name);
  for (const path of documentScripts) partOf.delete(toModuleId(path));
  return partOf;
}

/** @type {Map<string, string> | undefined} */
let partByModule;

/** Whether a module opens one of the later parts. @param {string} id */
export const isLazyPartRoot = (id) =>
  lazyParts.some(({ roots }) =>
    roots.some((path) => (path.endsWith("/") ? id.startsWith(toModuleId(path)) : toModuleId(path) === id)),
  );

/** To be asked once the chunks are made. @param {string} id @param {string} name */
export const isInPart = (id, name) => partByModule?.get(id) === name;

/**
 * Whether a module comes with the app, soon after it, or with every document. To be asked once the chunks are made.
 * @param {string} id
 */
export const isInitialModule = (id) =>
  documentScripts.some((path) => toModuleId(path) === id) ||
  [...initialParts, ...idleParts].some(({ name }) => partByModule?.get(id) === name);

const partNames = [
  ...[...initialParts, ...idleParts].map(({ name }) => name),
  sharedPart,
  ...lazyParts.map(({ name }) => name),
];

// Rolldown puts what a group's modules import into the same file, unless a group of a higher priority has it.
export const chunkGroups = partNames.map((name, index) => ({
  /**
   * @param {string} id
   * @param {ModuleGraph} graph
   */
  name: (id, graph) => {
    partByModule ??= assignParts(graph);
    return partByModule.get(id) === name ? name : null;
  },
  priority: partNames.length - index,
}));
