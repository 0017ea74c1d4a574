// Import rules, used by check-imports.mjs: imports point in one direction.
//   contract ← worker/lib, worker/db, worker/mail ← worker/objects ← worker/<feature> ← worker/api.ts, socket.ts, service ← worker/index.ts
//   src/first-view ← worker/service/app-document
//   contract ← src/lib, src/components, src/i18n ← src/sync ← src/calls ← src/features/<feature> ← src/app and the files directly in src
// Within these, folders are ordered by `stages`.

/** Order of the Worker's features: each may import the public modules (`publicModules`) of earlier ones. */
const workerFeatures = [
  "auth",
  "people",
  "contacts",
  "conversations",
  "groups",
  "settings",
  "push",
  "calls",
  "tala",
  "files",
  "account",
];
const publicModules =
  /^worker\/([^/]+)\/(queries|trust|request-limits|security-notices|proof-of-work|second-factor\/reauthentication)\.ts$/;

/**
 * Import order of an area's folders and files, from independent to dependent: a file imports its own stage and earlier
 * ones. An entry is a folder or a file; the longest match counts, "." matches the rest. Folders of other areas may
 * import each other in any order.
 * @type {Record<string, string[][]>}
 */
const stages = {
  contract: [
    ["ids.ts", "limits", "errors.ts", "text.ts", "names", "phone", "language.ts"],
    ["calls"],
    ["."],
    ["auth"],
    ["wire"],
  ],
  "worker/lib": [["log.ts", "limits/bounded-map.ts"], ["storage"], ["http", "limits"], ["."], ["deletion"]],
  "worker/files": [["formats"], ["."]],
  "worker/objects": [
    ["shared"],
    ["rpc", "stubs.ts"],
    ["conversation/log"],
    ["conversation/messages", "conversation/delivery"],
    ["conversation/groups"],
    ["conversation"],
    ["user-channel/commands/body-checks.ts", "user-channel/commands/send-queue.ts"],
    ["user-channel/inbox", "user-channel/sockets"],
    ["user-channel/presence", "user-channel/push"],
    ["user-channel/commands/conversation-gateway.ts"],
    ["user-channel/calls"],
    ["user-channel/account-deletion.ts"],
    ["user-channel/commands"],
    ["user-channel/frames"],
    ["."],
  ],
  "src/lib": [
    ["browser"],
    ["unsent"],
    ["text"],
    ["http"],
    ["session/session-lock.ts", "session/session.ts", "session/session-refresh.ts"],
    ["http/api.ts"],
    ["session"],
    ["factors"],
    ["media"],
    ["push"],
  ],
  "src/components": [["focus", "images"], ["controls"], ["overlays"], ["layout"], ["people"], ["messages"], ["auth"]],
  "src/sync": [
    ["platform"],
    ["unsent"],
    ["store"],
    ["store/recovery"],
    ["inbound"],
    ["queries"],
    ["files"],
    ["connection"],
    ["sending"],
    ["drafts"],
    ["operations"],
    ["commands"],
    ["feed"],
    ["presence"],
    ["engine"],
    ["actions"],
    ["hooks"],
  ],
  "src/calls": [
    ["signaling"],
    ["tab-lock.ts", "sync-port.ts"],
    ["quality"],
    ["media"],
    ["tones"],
    ["views.ts", "environment.ts"],
    ["controller"],
    ["."],
    ["ui"],
  ],
  "src/features/auth": [["form"], ["flows"], ["screens"]],
  "src/features/calls": [["host/call-notices.ts"], ["hooks"], ["screen"], ["end"], ["host"], ["log"]],
  "src/features/chat": [
    ["search/search-highlight.tsx"],
    ["composer/composer-notice.tsx", "composer/discard-dialog.tsx"],
    [
      "message/senders.ts",
      "message/collapse-text.ts",
      "message/chat-participation.ts",
      "message/failed-message.tsx",
      "message/mention-context.ts",
      "message/message-text.tsx",
      "message/use-long-press-menu.ts",
    ],
    ["mentions"],
    ["reply"],
    ["edit/edit-context.ts", "edit/failed-edit.tsx"],
    ["reactions"],
    ["attachments"],
    ["message"],
    ["field"],
    ["voice"],
    ["unsent"],
    ["composer"],
    ["edit"],
    ["list"],
    ["search"],
    ["header"],
    ["."],
  ],
  "src/features/groups": [["run-group-command.ts"], ["members"], ["create"], ["."]],
  "src/features/security": [
    ["security-api.ts", "security-changes.ts", "form-dialog.tsx", "security-row.tsx"],
    ["notices"],
    ["sheets"],
    ["sections"],
    ["."],
  ],
};

/** Folders that must not import each other. */
const isolatedFolders = [["worker/objects/conversation/", "worker/objects/user-channel/"]];

/** Layer of a path within its tree: a file may import its own layer and lower ones. */
function getLayer(path) {
  const [tree, folder, rest] = path.split("/");
  if (tree === "worker") {
    if (folder === "lib" || folder === "db" || folder === "mail") return 1;
    if (folder === "objects") return 2;
    if (rest !== undefined && folder !== "service") return 3;
    return folder === "index.ts" ? 5 : 4;
  }
  if (folder === "lib" || folder === "components" || folder === "i18n") return 1;
  if (folder === "sync") return 2;
  if (folder === "calls") return 2.5;
  return folder === "features" ? 3 : 4;
}

/**
 * Index of the stage of a file within its area, or -1.
 * @param {string[][]} order @param {string} path relative to the area
 */
function findStage(order, path) {
  const fits = (entry) => entry === "." || path === entry || path.startsWith(`${entry}/`);
  const length = (entry) => (entry === "." ? 0 : entry.length);
  const [best] = order
    .flat()
    .filter(fits)
    .sort((a, b) => length(b) - length(a));
  return order.findIndex((entries) => best !== undefined && entries.includes(best));
}

/** Violation of the order within an area, or undefined. */
function findAreaViolation(from, to) {
  for (const [area, order] of Object.entries(stages)) {
    if (!from.startsWith(`${area}/`) || !to.startsWith(`${area}/`)) continue;
    const [low, high] = [to, from].map((path) => findStage(order, path.slice(area.length + 1)));
    if (low < 0 || high < 0) return `${low < 0 ? to : from} has no place in the order of ${area}`;
    if (low > high) return `the folders of ${area} import along one order`;
  }
  for (const [a, b] of isolatedFolders) {
    if ((from.startsWith(a) && to.startsWith(b)) || (from.startsWith(b) && to.startsWith(a))) {
      return `${a} and ${b} know nothing of each other`;
    }
  }
  return undefined;
}

/**
 * Reason why a path in `new URL(path, import.meta.url)` leads nowhere, or undefined. Such a path is relative to the file:
 * an alias of package.json would be a fragment of the file's own address.
 * @param {string} path @param {boolean} exists whether a file or folder stands there
 * @returns {string | undefined}
 */
export function findUrlViolation(path, exists) {
  if (path.startsWith("#")) return "new URL knows no aliases: write the path relative to this file";
  return exists ? undefined : "there is no such file or folder";
}

/**
 * The first rule that forbids `from` to import `to`, or undefined.
 * @param {string} from @param {string} to repository files, or a package
 * @returns {string | undefined}
 */
export function findViolation(from, to) {
  const [fromTree, fromFolder] = from.split("/");
  const [toTree, toFolder] = to.split("/");
  const isLocal = ["contract", "worker", "src", "migrations"].includes(toTree) && to.includes("/");
  if (fromTree === "contract" && to !== "valibot" && !(isLocal && toTree === "contract")) {
    return "contract imports valibot only";
  }
  if (/^(tests|scripts|bench|lab)\//.test(to)) return "the product imports no tests or scripts";
  if (!isLocal || toTree === "migrations") return undefined;
  const disorder = findAreaViolation(from, to);
  if (disorder) return disorder;
  if (toTree === "contract") return undefined;
  if (fromTree !== toTree) {
    if (from.startsWith("worker/service/app-document/") && to.startsWith("src/first-view/")) return undefined;
    return "src and the Worker know nothing of each other, except that the Worker draws first views (src/first-view)";
  }
  if (getLayer(to) > getLayer(from)) return "imports point one way, down the layers";
  const betweenFeatures = getLayer(from) === 3 && getLayer(to) === 3;
  if (!betweenFeatures) return undefined;
  if (fromTree === "src") {
    return from.split("/")[2] === to.split("/")[2] ? undefined : "features meet only in src/app";
  }
  if (fromFolder === toFolder) return undefined;
  if (!publicModules.test(to))
    return "of another feature only its doors (queries.ts, trust.ts, request-limits.ts, security-notices.ts, reauthentication.ts) may be imported";
  const ordered = workerFeatures.indexOf(toFolder) < workerFeatures.indexOf(fromFolder);
  return ordered ? undefined : `features import along one order: ${workerFeatures.join(" < ")}`;
}
