import { join } from "node:path";
import { root } from "./run.mjs";

// For vite.config.ts: the files the client's code comes in (docs/decisions/client-bundles.md). Each part is one file:
// what its roots reach by static imports and no part before it has. What no part reaches is split as Rolldown does it.

/** @typedef {{ name: string, roots: string[] }} Part */

/** @type {Part[]} */
const first = [
  // What every document runs, and the little that the forms, passkeys and the second step share with the app: a part that
  // only the app has would bring all of it to the log-in page.
  {
    name: "base",
    roots: [
      "src/entry.tsx",
      "src/components/button.tsx",
      "src/components/password-field.tsx",
      "src/components/text-field.tsx",
      "src/i18n/format.ts",
      "src/lib/api.ts",
      "src/lib/connection.ts",
      "src/lib/ended.ts",
      "src/lib/media/avatar-file.ts",
      "src/lib/new-password.ts",
      "src/lib/newcomer.ts",
      "src/lib/passkey-failure.ts",
      "src/lib/passkeys.ts",
      "src/lib/sign-in.ts",
      "src/lib/typed.ts",
      "contract/security.ts",
    ],
  },
  // The way to another provider and back: from the forms, and from the security page.
  { name: "providers", roots: ["src/lib/oauth.ts"] },
  // The second step: at log-in, and before what asks for a proof.
  { name: "steps", roots: ["src/components/step-panel.tsx"] },
  // All it takes to open the app, see the list and talk in a chat.
  { name: "app", roots: ["src/main.tsx"] },
];

/**
 * Parts that every page of the app asks for once it is drawn. Modules that later parts need too stay in them: in `shared`
 * they would bring all of it, and the later icons, to every chat.
 * @type {Part[]}
 */
const soon = [
  // Announces messages that arrive in other conversations.
  { name: "notifier", roots: ["src/features/notifier/notifier.tsx"] },
];

/** @type {Part[]} */
const later = [
  // What a chat shows besides texts.
  {
    name: "media",
    roots: [
      "src/features/chat/call-row.tsx",
      "src/features/chat/file-card.tsx",
      "src/features/chat/left-note.tsx",
      "src/features/chat/picture.tsx",
      "src/features/chat/viewer.tsx",
      "src/features/chat/voice-note.tsx",
      "src/sync/file-cache.ts",
    ],
  },
  // What files and voice messages are made and sent with.
  {
    name: "sending",
    roots: [
      "src/features/chat/attach-sheet.tsx",
      "src/components/camera-sheet.tsx",
      "src/features/chat/voice-panel.tsx",
      "src/features/chat/voice-session.ts",
      "src/lib/media/post-picture.ts",
      "src/lib/media/prepare.ts",
      "src/lib/media/shrink.ts",
      "src/sync/attaching.ts",
      "src/sync/choices.ts",
      "src/sync/upload-rows.ts",
      "src/sync/uploader.ts",
    ],
  },
  // What opens over the list and over a chat.
  {
    name: "deeds",
    roots: [
      "src/features/chat/forward-dialog.tsx",
      "src/features/chat/message-deeds.tsx",
      "src/features/chat/receipts-sheet.tsx",
      "src/features/chat/search-panel.tsx",
      "src/features/conversations/broadcast.tsx",
      "src/features/conversations/new-chat.tsx",
      "src/sync/spreading.ts",
    ],
  },
  // Making a group, its members and what is done with them.
  {
    name: "groups",
    roots: [
      "src/features/groups/add-members.tsx",
      "src/features/groups/create-group-screen.tsx",
      "src/features/groups/heir-sheet.tsx",
      "src/features/groups/members-screen.tsx",
      "src/features/groups/rename-dialog.tsx",
      "src/features/groups/virtual-members.tsx",
    ],
  },
  // A call: what rings, what carries voices and pictures, and what shows of it.
  {
    name: "calls",
    roots: [
      "src/calls/call-bar.tsx",
      "src/calls/open.ts",
      "src/calls/call-question.tsx",
      "src/features/calls/call-layer.tsx",
      "src/features/calls/sayings.ts",
    ],
  },
  {
    name: "screens",
    roots: [
      "src/components/virtual-rows.tsx",
      "src/features/contacts/blocked-screen.tsx",
      "src/features/contacts/contacts-screen.tsx",
      "src/features/contacts/person-screen.tsx",
      "src/features/makutano/makutano-screen.tsx",
      "src/features/profile/appearance-screen.tsx",
      "src/features/profile/profile-screen.tsx",
      "src/features/senga/senga-screen.tsx",
      "src/features/services/services-screen.tsx",
      "src/features/settings/notifications-screen.tsx",
      "src/features/settings/privacy-screen.tsx",
    ],
  },
  // How the account is kept, and what asks for a proof before it is changed.
  {
    name: "security",
    roots: ["src/components/step-up-dialog.tsx", "src/features/security/security-screen.tsx"],
  },
  // The feed of statuses, and what brings one's own to the server.
  { name: "tala", roots: ["src/features/tala/tala-screen.tsx", "src/sync/poster.ts"] },
  // The answers in all languages.
  { name: "help", roots: ["src/features/help/help-screen.tsx"] },
];

/** What several of the later parts need. */
const shared = "shared";

/** The scripts that documents name stay apart from what they run. */
const documentScripts = ["src/main.tsx", "src/entry.tsx", "src/entry-screens.tsx"];

/** @typedef {{ importedIds: readonly string[], dynamicallyImportedIds?: readonly string[] }} ModuleImports */
/** @typedef {{ getModuleInfo: (id: string) => ModuleImports | null }} ModuleGraph */

const toId = (path) => join(root, path).replaceAll("\\", "/");

/**
 * @param {ModuleGraph} graph
 * @param {string[]} roots
 * @param {(id: string) => boolean} isTaken
 */
function reach(graph, roots, isTaken) {
  /** @type {Set<string>} */
  const reached = new Set();
  const walk = (id) => {
    if (reached.has(id) || isTaken(id)) return;
    reached.add(id);
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) walk(imported);
  };
  for (const id of roots.map(toId)) {
    if (!graph.getModuleInfo(id)) throw new Error(`scripts/chunks.mjs names ${id}, which the client does not have`);
    walk(id);
  }
  return reached;
}

/** @param {ModuleGraph} graph */
function assign(graph) {
  /** @type {Map<string, string>} */
  const partOf = new Map();
  const isTaken = (id) => partOf.has(id);
  for (const { name, roots } of [...first, ...soon]) {
    for (const id of reach(graph, roots, isTaken)) partOf.set(id, name);
  }
  const reached = later.map(({ name, roots }) => ({ name, ids: reach(graph, roots, isTaken) }));
  for (const { name, ids } of reached) for (const id of ids) partOf.set(id, partOf.has(id) ? shared : name);
  for (const path of documentScripts) partOf.delete(toId(path));
  return partOf;
}

/** @type {Map<string, string> | undefined} */
let assigned;

/** Whether a module opens one of the later parts. @param {string} id */
export const opensLaterPart = (id) => later.some(({ roots }) => roots.some((path) => toId(path) === id));

/** To be asked once the chunks are made. @param {string} id @param {string} name */
export const isInPart = (id, name) => assigned?.get(id) === name;

/**
 * Whether a module comes with the app, soon after it, or with every document. To be asked once the chunks are made.
 * @param {string} id
 */
export const comesFirst = (id) =>
  documentScripts.some((path) => toId(path) === id) ||
  [...first, ...soon].some(({ name }) => assigned?.get(id) === name);

const names = [...[...first, ...soon].map(({ name }) => name), shared, ...later.map(({ name }) => name)];

// Rolldown puts what a group's modules import into the same file, unless a group of a higher priority has it.
export const chunkGroups = names.map((name, index) => ({
  /**
   * @param {string} id
   * @param {ModuleGraph} graph
   */
  name: (id, graph) => {
    assigned ??= assign(graph);
    return assigned.get(id) === name ? name : null;
  },
  priority: names.length - index,
}));
