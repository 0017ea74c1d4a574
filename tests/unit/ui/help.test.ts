import { afterEach, expect, test, vi } from "vitest";
import { findAppRoute } from "#app/routes.ts";
import { languages } from "#contract/language.ts";
import { isPlainLine } from "#contract/text.ts";
import { collectDiagnostics, formatDiagnostics, formatUnsentCounts, parseBuildId } from "#features/help/diagnostics.ts";
import { type HelpScreenName, helpScreens } from "#features/help/help-screens.ts";
import enQuestions from "#features/help/questions/en.json";
import frQuestions from "#features/help/questions/fr.json";
import ptQuestions from "#features/help/questions/pt.json";
import {
  type HelpTexts,
  helpTopics,
  listQuestions,
  resolveQuestion,
  searchHelpQuestions,
  splitInserts,
} from "#features/help/questions.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { createTranslate, type TextKey } from "#i18n/setup.ts";

afterEach(() => vi.unstubAllGlobals());

const texts = { fr, en, pt };
const helpTexts: Record<(typeof languages)[number], HelpTexts> = { fr: frQuestions, en: enQuestions, pt: ptQuestions };
const questionsOf = (language: (typeof languages)[number]) => listQuestions(helpTexts[language]);
const shownOf = (language: (typeof languages)[number]) => {
  const t = createTranslate(language, texts[language]);
  return questionsOf(language).map((question) =>
    resolveQuestion(question, (insert) =>
      t("key" in insert ? (insert.key as TextKey) : helpScreens[insert.screen as HelpScreenName].title),
    ),
  );
};
const insertsOf = ({ question, answer }: { question: string; answer: string }) =>
  splitInserts(question + answer).filter((piece) => !("text" in piece));

test("every language answers the same questions, with the same screens and buttons", () => {
  const french = questionsOf("fr");
  expect(new Set(french.map(({ id }) => id)).size).toBe(french.length);
  for (const language of languages) {
    expect(Object.keys(helpTexts[language])).toEqual([...helpTopics]);
    const list = questionsOf(language);
    expect(list.map(({ id, topic }) => [id, topic])).toEqual(french.map(({ id, topic }) => [id, topic]));
    for (const [index, question] of list.entries()) {
      const named = french[index];
      expect(named && insertsOf(question), `${language} ${question.id}`).toEqual(named && insertsOf(named));
    }
    for (const { id, question, answer } of shownOf(language)) {
      expect(isPlainLine(question) && question.length < 80, `${language} ${id}`).toBe(true);
      expect(answer.length, `${language} ${id}`).toBeGreaterThan(40);
      expect(answer.length, `${language} ${id}`).toBeLessThan(520);
    }
  }
});

test("screens that an answer links to are pages of the app", () => {
  const named = new Set(
    questionsOf("fr")
      .flatMap(insertsOf)
      .flatMap((piece) => ("screen" in piece ? [piece.screen] : [])),
  );
  expect([...named].sort()).toEqual(Object.keys(helpScreens).sort());
  for (const { path } of Object.values(helpScreens)) expect(findAppRoute(path), path).toBeDefined();
});

/** Words of browsers and phones, which the product has no text for. */
const foreign = /^(autorisations|permissions|permissões)$/i;

test("what an answer quotes is a text of the interface, named by its key", () => {
  for (const language of languages) {
    for (const { id, question, answer } of questionsOf(language)) {
      for (const [, quoted = ""] of `${question} ${answer}`.matchAll(/[«“]\s*(.+?)\s*[»”]/gu))
        expect(/^\{[\w.]+\}$/.test(quoted) || foreign.test(quoted), `${language} ${id}: ${quoted}`).toBe(true);
    }
  }
});

test("a text is found without accents and capitals, by words in any order", () => {
  const ids = (query: string, language: (typeof languages)[number] = "fr") =>
    searchHelpQuestions(shownOf(language), query);
  expect(ids("reseau")).toEqual(ids("RÉSEAU"));
  expect(ids("numero voit")[0]).toBe("number");
  expect(ids("  voit,   numéro ? ")[0]).toBe("number");
  expect(ids("palavra passe esqueci", "pt")[0]).toBe("password");
  expect(ids("sim card", "en")[0]).toBe("lost");
  // A word that is in neither text.
  expect(ids("forfait")).toContain("callData");
  // A word of a button that the answer names.
  expect(ids("archiver")).toContain("archive");
});

test("a question that contains the words comes before an answer that does", () => {
  const found = searchHelpQuestions(shownOf("en"), "group owner");
  expect(found[0]).toBe("owner");
  expect(found.length).toBeGreaterThan(1);
});

test("unknown words find nothing; of several words most are enough if no question has all", () => {
  const search = (query: string) => searchHelpQuestions(shownOf("fr"), query);
  expect(search("zzz")).toEqual([]);
  expect(search("le zzz")).toEqual([]);
  expect(search("groupe zzz yyy")).toEqual([]);
  expect(search("groupe zzz")).toEqual(search("groupe"));
  expect(search("numero voit zzz")[0]).toEqual(search("numero voit")[0]);
});

const secrets = {
  id: "0190a1b2-c3d4-7e5f-8a6b-1c2d3e4f5a6b",
  other: "0190ffff-c3d4-7e5f-8a6b-1c2d3e4f5a6b",
  phone: "243810000077",
  name: "Anastasie",
  words: "rendez-vous au marché",
};

/** A browser in which every value a page can read identifies the user. */
const stubBrowser = (navigator: object) => {
  const kept = JSON.stringify(secrets);
  vi.stubGlobal("navigator", navigator);
  vi.stubGlobal(
    "location",
    new URL(`https://lisolo.example/app/chat/${secrets.other}?${secrets.words}#${secrets.name}`),
  );
  vi.stubGlobal("localStorage", { session: kept, getItem: (key: string) => (key === "appearance" ? null : kept) });
  vi.stubGlobal("document", { title: secrets.name, cookie: kept, documentElement: { lang: "fr" } });
  vi.stubGlobal("innerWidth", 360);
  vi.stubGlobal("innerHeight", 740);
  vi.stubGlobal("devicePixelRatio", 2);
  vi.stubGlobal("getComputedStyle", () => ({ fontSize: "16px" }));
};
const waiting = formatUnsentCounts({ messages: 2, posts: 3, drafts: 1, deletions: 0, edits: 0 });
const known = { version: "0.1.0 (dev)", language: "fr", look: "", link: "online", trouble: "none", waiting };

test("the diagnosis contains helpful facts and no personal data", async () => {
  stubBrowser({
    userAgent: "Mozilla/5.0 (Linux; Android 10)",
    onLine: true,
    connection: { effectiveType: "3g", rtt: 300, saveData: true },
    storage: { estimate: async () => ({ usage: 12_345_678, quota: 1_000_000_000 }), persisted: async () => true },
    permissions: { query: async ({ name }: { name: string }) => ({ state: name === "camera" ? "denied" : "granted" }) },
    serviceWorker: { controller: {} },
  });
  const text = formatDiagnostics(await collectDiagnostics(known));
  expect(text.split("\n")).toEqual([
    "version: 0.1.0 (dev)",
    "language: fr",
    "look: as the system",
    "browser: Mozilla/5.0 (Linux; Android 10)",
    "screen: 360×740 at 2",
    "zoom: 16px",
    "network: online, 3g, 300 ms, saving data",
    "link: online",
    "trouble: none",
    "waiting: 2 messages, 3 statuses, 1 drafts",
    "storage: 12 MB of 1000 MB, kept",
    "worker: running",
    "microphone: granted",
    "camera: denied",
  ]);
  for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
});

test("a browser that reports nothing does not prevent the rest", async () => {
  stubBrowser({ userAgent: "An old one", onLine: false });
  const text = formatDiagnostics(await collectDiagnostics(known));
  expect(text).toContain("network: offline");
  expect(formatUnsentCounts(undefined)).toBe("unknown");
  expect(text).toContain("storage: unknown");
  expect(text).toContain("microphone: unknown");
  expect(text).toContain("worker: none");
});

test("the build is named by the file name of its script", () => {
  expect(parseBuildId("https://lisolo.example/assets/index-DcUviI3j.js")).toBe("DcUviI3j");
  expect(parseBuildId("https://lisolo.example/assets/index-Dc_v-I3j.js")).toBe("Dc_v-I3j");
  expect(parseBuildId("http://localhost:5173/src/main.tsx")).toBe("dev");
  expect(parseBuildId("")).toBe("dev");
});
