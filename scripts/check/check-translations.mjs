// Checks that the texts of all languages are complete: same keys, same placeholders, none empty, unused or missing. A
// language is a file in src/i18n; French, the first one of the product, is what the others are compared with. Each
// language has the plural forms that its own rules name (Intl.PluralRules).
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { languages as declared } from "../../contract/language.ts";
import { pluralForm } from "../build/text-parts.mjs";
import { root } from "../run.mjs";

const textFolder = join(root, "src", "i18n");
const helpFolder = join(root, "src", "features", "help", "questions");
/** @param {string} folder */
const listLanguages = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length));
const languages = listLanguages(textFolder);
/** Prefixes of keys that are requested with a typed variable, as in t(`errors.${code}`). */
const dynamicPrefixes = [
  "errors.",
  "callLines.outcomes.",
  "chat.status.",
  "groups.events.",
  "groups.receipts.",
  "masolo.filter.",
  "masolo.flagged.",
  "masolo.nothing.",
  "mute.for.",
  "number.methods.",
  "reactions.groups.",
  "reactions.tones.",
  "scan.problems.",
  "security.notices.events.",
  "shell.tabs.",
  "shell.storage.",
  "settings.notifications.levels.",
  "settings.privacy.findable.",
  "settings.privacy.picture.",
  "settings.privacy.statuses.",
  "settings.privacy.seen.",
];

/** @type {string[]} */
const problems = [];
/** @param {string} named @param {readonly string[]} names @param {string} where */
const requireLanguage = (named, names, where) => {
  if (!names.includes(named)) problems.push(`${where} has no ${named}`);
};
for (const language of languages) {
  requireLanguage(language, declared, "contract/language.ts");
  requireLanguage(language, listLanguages(helpFolder), relative(root, helpFolder));
}
for (const language of [...declared, ...listLanguages(helpFolder)])
  requireLanguage(language, languages, relative(root, textFolder));
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
function flatten(node, path = "") {
  return Object.entries(node).flatMap(([name, value]) =>
    typeof value === "object" ? flatten(value, `${path}${name}.`) : [[`${path}${name}`, value]],
  );
}

const textsByLanguage = Object.fromEntries(
  languages.map((language) => [
    language,
    new Map(flatten(JSON.parse(readFileSync(join(textFolder, `${language}.json`), "utf8")))),
  ]),
);

// Placeholders are names in one or two braces; a plural form may omit {count}, as in "a message".
function listPlaceholders(key, text) {
  const names = new Set([...text.matchAll(/\{\{?\s*(\w+)\s*\}?\}/g)].map((match) => match[1]));
  if (pluralForm.test(key)) names.delete("count");
  return [...names].sort().join(" ");
}

const countMax = 1_000; // larger numbers need no form of their own: "other" stands for them
/** Plural forms of whole numbers in a language, and "other", which i18next uses where a form is missing. */
const listPluralForms = (language) => {
  const rules = new Intl.PluralRules(language);
  return new Set(["other", ...Array.from({ length: countMax + 1 }, (_, count) => rules.select(count))]);
};

const french = textsByLanguage.fr;
/** Keys that a language needs: those of French, with the plural forms of this language. */
const listNeededKeys = (language) => {
  const forms = [...listPluralForms(language)];
  const needed = [...french.keys()].flatMap((key) =>
    pluralForm.test(key) ? forms.map((form) => key.replace(pluralForm, `_${form}`)) : [key],
  );
  return new Set(needed);
};

for (const language of languages) {
  const needed = listNeededKeys(language);
  for (const [key, text] of textsByLanguage[language]) {
    const original = french.get(key) ?? french.get(key.replace(pluralForm, "_other"));
    if (typeof text !== "string" || text.trim() === "") problems.push(`${language}: ${key} is empty`);
    else if (original === undefined) problems.push(`fr: ${key} is missing (${language} has it)`);
    else if (!needed.has(key)) problems.push(`${language}: ${key} is a plural form that ${language} does not have`);
    else if (listPlaceholders(key, text) !== listPlaceholders(key, original))
      problems.push(`${language}: ${key} has other placeholders than fr`);
  }
  for (const key of needed) if (!textsByLanguage[language].has(key)) problems.push(`${language}: ${key} is missing`);
}

// French requires a no-break space before these characters.
for (const [key, text] of french)
  if (/ [?!;:»]|« /.test(text)) problems.push(`fr: ${key} lets a line end before its punctuation`);

const stems = new Set([...french.keys()].map((key) => key.replace(pluralForm, "")));
const literals = new Set();
const seenPrefixes = new Set();

function walk(node, file) {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, file);
    return;
  }
  if (!node || typeof node !== "object") return;
  if (node.type === "Literal" && typeof node.value === "string") literals.add(node.value);
  if (node.type === "TemplateLiteral") {
    const start = node.quasis[0].value.cooked ?? "";
    if (node.quasis.length === 1) literals.add(start);
    for (const prefix of dynamicPrefixes) if (start === prefix) seenPrefixes.add(prefix);
  }
  if (node.type === "CallExpression" && (node.callee.name === "t" || node.callee.property?.name === "t")) {
    const key = node.arguments[0];
    if (key?.type === "Literal" && !stems.has(key.value) && !french.has(key.value))
      problems.push(`${file}: ${key.value} is used and stands in no language`);
    if (
      key?.type === "TemplateLiteral" &&
      key.quasis.length > 1 &&
      !dynamicPrefixes.includes(key.quasis[0].value.cooked)
    )
      problems.push(
        `${file}: \`${key.quasis[0].value.cooked}\${…}\` is no prefix named in scripts/check/check-translations.mjs`,
      );
  }
  for (const value of Object.values(node)) if (value && typeof value === "object") walk(value, file);
}

const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name));
for (const file of sources) walk(parseSync(file, readFileSync(file, "utf8")).program, relative(root, file));

// The help shows texts of the interface by their keys, as they stand there: without placeholders.
for (const language of languages) {
  for (const [path, text] of flatten(JSON.parse(readFileSync(join(helpFolder, `${language}.json`), "utf8")))) {
    for (const [, key] of text.matchAll(/\{([\w.]+)\}/g)) {
      if (!french.has(key)) problems.push(`help, ${language}: ${path} names ${key}, which stands in no language`);
      else if (listPlaceholders("", french.get(key)) !== "")
        problems.push(`help, ${language}: ${path} names ${key}, which has placeholders`);
    }
    if (language === "fr" && / [?!;:»]|« /.test(text))
      problems.push(`help, fr: ${path} lets a line end before its punctuation`);
  }
}

for (const stem of stems) {
  const isDynamic = dynamicPrefixes.some((prefix) => stem.startsWith(prefix));
  if (!literals.has(stem) && !isDynamic) problems.push(`${stem} is used nowhere`);
}
for (const prefix of dynamicPrefixes)
  if (!seenPrefixes.has(prefix))
    problems.push(`the prefix ${prefix} in scripts/check/check-translations.mjs is used nowhere`);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${french.size} texts are complete in ${languages.join(", ")}.`);
