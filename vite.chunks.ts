import { fileURLToPath } from "node:url";

/**
 * The files the client's code comes in (docs/decisions/2026-11-21-chunks.md). Each part is one file: what its roots
 * reach by static imports and no part before it has. What no part reaches is split as Rolldown does it.
 */
type Part = { name: string; roots: string[] };

const first: Part[] = [
  // What every document runs, and the little that the forms share with the app.
  { name: "base", roots: ["src/entry.tsx", "src/components/button.tsx"] },
  // All it takes to open the app, see the list and talk in a chat.
  { name: "app", roots: ["src/main.tsx"] },
];

const later: Part[] = [
  // What a chat shows besides texts.
  {
    name: "media",
    roots: [
      "src/features/chat/file-card.tsx",
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
      "src/features/chat/camera-sheet.tsx",
      "src/features/chat/voice-panel.tsx",
      "src/features/chat/voice-session.ts",
      "src/lib/media/prepare.ts",
      "src/lib/media/shrink.ts",
      "src/sync/attaching.ts",
      "src/sync/recordings.ts",
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
      "src/features/chat/search-panel.tsx",
      "src/features/conversations/broadcast.tsx",
      "src/features/conversations/new-chat.tsx",
      "src/sync/spreading.ts",
    ],
  },
  {
    name: "screens",
    roots: [
      "src/app/later-screen.tsx",
      "src/app/soon-screen.tsx",
      "src/features/contacts/blocked-screen.tsx",
      "src/features/contacts/contacts-screen.tsx",
      "src/features/contacts/person-screen.tsx",
      "src/features/contacts/virtual-contacts.tsx",
      "src/features/profile/profile-screen.tsx",
      "src/features/senga/senga-screen.tsx",
    ],
  },
];

/** What several of the later parts need. */
const shared = "shared";

/** The scripts that documents name stay apart from what they run. */
const documentScripts = ["src/main.tsx", "src/entry.tsx", "src/entry-screens.tsx"];
const bundlerRuntime = "\0rolldown/runtime.js";

type ModuleGraph = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null };

const toId = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const reach = (graph: ModuleGraph, roots: string[], isTaken: (id: string) => boolean): Set<string> => {
  const reached = new Set<string>();
  const walk = (id: string): void => {
    if (reached.has(id) || isTaken(id)) return;
    reached.add(id);
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) walk(imported);
  };
  for (const root of roots.map(toId)) {
    if (!graph.getModuleInfo(root)) throw new Error(`vite.chunks.ts names ${root}, which the client does not have`);
    walk(root);
  }
  return reached;
};

const assign = (graph: ModuleGraph): Map<string, string> => {
  const partOf = new Map<string, string>([[bundlerRuntime, "base"]]);
  for (const { name, roots } of first) {
    for (const id of reach(graph, roots, (id) => partOf.has(id))) partOf.set(id, name);
  }
  const reachedLater = later.map(({ name, roots }) => ({ name, ids: reach(graph, roots, (id) => partOf.has(id)) }));
  for (const { name, ids } of reachedLater) for (const id of ids) partOf.set(id, partOf.has(id) ? shared : name);
  for (const path of documentScripts) partOf.delete(toId(path));
  return partOf;
};

let assigned: Map<string, string> | undefined;

const names = [...first.map(({ name }) => name), shared, ...later.map(({ name }) => name)];

/** Rolldown gives a group's modules whatever they import, unless a group of a higher priority has it. */
export const chunkGroups = names.map((name, index) => ({
  name: (id: string, graph: ModuleGraph): string | null => {
    assigned ??= assign(graph);
    return assigned.get(id) === name ? name : null;
  },
  priority: names.length - index,
}));
