// Rules for names, used by check-names.mjs: an exported name is declared in one file, and identifiers use the standard terms.
import { parseSync } from "oxc-parser";

/**
 * Retired words of identifiers and their replacements (docs/GLOSSARY.md). A word is a part of a camelCase name; only words
 * without another meaning in this repository are listed.
 * @type {Record<string, string>}
 */
const retiredWords = {
  deed: "effect, command or action",
  deeds: "effects, commands or actions",
  heir: "successor",
  homeless: "unstoredMessageIds",
  jot: "journal",
  jotting: "journal",
  lookers: "TabVisibility",
  rungs: "quality ladder",
  shelf: "object URL cache",
  strokes: "timer callbacks",
  thrifty: "dataSaver",
  tremble: "vibrate",
};

/**
 * Retired names, compared as a whole, and their replacements.
 * @type {Record<string, string>}
 */
const retiredNames = {
  Accepting: "MessageAppender",
  CallComplaint: "CallProblem",
  CallEar: "CallEventHandler",
  CallKeeper: "SavedCall",
  CallVerdict: "CallRating",
  CallWire: "CallFeed",
  DeviceLink: "DevicePeer",
  FeedLooker: "FeedPoller",
  Grouping: "Group",
  KeptCall: "SavedCall",
  KnownCalls: "CallRegistry",
  LateWorker: "LazyWorker",
  LedAway: "RedirectWithNotice",
  MediaPlane: "MediaSession",
  MemberLearner: "MemberLoader",
  Parting: "AccountDeletion",
  PersonCalls: "CallCommands",
  PresenceAsker: "PresencePoller",
  Releasing: "FileRelease",
  SaidSignals: "SignalBuffer",
  SignalBox: "ReliableChannel",
  Telling: "MemberNotifier",
  askOrHear: "confirmByAnswerOrPush",
  bringAgain: "requeueUpload",
  carryOut: "runCommand",
  goWithout: "leaveSilently",
  insertUse: "addFileReference",
  isEmptied: "isTombstone",
  isTold: "isSystemMessage",
  isToRead: "countsAsUnread",
  keepAside: "backup",
  lateLayer: "lazyOverlay",
  noteFate: "updateOutboxRow",
  putBack: "restore",
  queueFarewell: "queueAccountDeleted",
  releaseUse: "releaseFileReference",
  settleBody: "normalizeBody",
  takeBack: "restore or dismiss",
  takeIn: "applyServerChanges",
  withdrawUse: "cancelFileReference",
};

/**
 * Names of stored data and external interfaces, which keep their words: `heir` is a query parameter, the others are keys of
 * translations.
 * @type {ReadonlySet<string>}
 */
const keptNames = new Set(["heir", "heirTitle", "bodyHeir"]);

/** Lower-case words of a camelCase, snake_case or PascalCase name. @param {string} name */
const toWords = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);

/**
 * Explanation of the retired terms in a name, or undefined.
 * @param {string} name
 */
export function findRetiredTerm(name) {
  const bare = name.replace(/^#/, "");
  if (keptNames.has(bare)) return undefined;
  const replacement = Object.hasOwn(retiredNames, bare) ? retiredNames[bare] : undefined;
  if (replacement) return `${name}: use ${replacement}`;
  const word = toWords(bare).find((part) => Object.hasOwn(retiredWords, part));
  return word === undefined ? undefined : `${name}: instead of "${word}" use ${retiredWords[word]}`;
}

/** @param {unknown} node @param {(node: any) => void} visit */
function walk(node, visit) {
  if (Array.isArray(node)) for (const item of node) walk(item, visit);
  else if (node && typeof node === "object") {
    if ("type" in node) visit(node);
    for (const value of Object.values(node)) if (value && typeof value === "object") walk(value, visit);
  }
}

/**
 * Names exported by a module under the name of their declaration, and all identifiers of the module.
 * @param {string} file
 * @param {string} text
 */
export function readNames(file, text) {
  const { program } = parseSync(file, text);
  /** @type {Set<string>} */
  const exported = new Set();
  /** @type {Set<string>} */
  const identifiers = new Set();
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    const { declaration } = statement;
    if (declaration?.type === "VariableDeclaration") {
      for (const { id } of declaration.declarations) if (id.type === "Identifier") exported.add(id.name);
    } else if (declaration && "id" in declaration && declaration.id?.type === "Identifier") {
      exported.add(declaration.id.name);
    }
  }
  walk(program, (node) => {
    if (node.type === "Identifier" || node.type === "JSXIdentifier") identifiers.add(node.name);
    else if (node.type === "PrivateIdentifier") identifiers.add(`#${node.name}`);
  });
  return { exported, identifiers };
}

/**
 * Exported names that several files declare, one line each.
 * @param {ReadonlyMap<string, ReadonlySet<string>>} exportedByFile
 */
export function findDuplicateExports(exportedByFile) {
  /** @type {Map<string, string[]>} */
  const files = new Map();
  for (const [file, names] of exportedByFile) {
    for (const name of names) files.set(name, [...(files.get(name) ?? []), file]);
  }
  return [...files]
    .filter(([, declaring]) => declaring.length > 1)
    .map(([name, declaring]) => `${name} is exported by ${declaring.join(", ")}`);
}
