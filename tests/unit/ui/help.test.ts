import { afterEach, expect, test, vi } from "vitest";
import { languages } from "#contract/language.ts";
import { isPlainLine } from "#contract/text.ts";
import { collectDiagnostics, formatDiagnostics, formatUnsentCounts, parseBuildId } from "#features/help/diagnostics.ts";
import { helpQuestions, helpTopics, searchHelpQuestions } from "#features/help/questions.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";

afterEach(() => vi.unstubAllGlobals());

test("every question is answered in every language, under a topic that is shown", () => {
  const french = helpQuestions.fr.map(({ id, topic }) => [id, topic]);
  expect(french.length).toBeGreaterThanOrEqual(14);
  expect(new Set(french.map(([id]) => id)).size).toBe(french.length);
  for (const language of languages) {
    const list = helpQuestions[language];
    expect(list.map(({ id, topic }) => [id, topic])).toEqual(french);
    for (const { id, topic, question, answer } of list) {
      expect(helpTopics, id).toContain(topic);
      expect(isPlainLine(question) && question.length < 80, `${language} ${id}`).toBe(true);
      expect(answer.length, `${language} ${id}`).toBeGreaterThan(60);
    }
  }
  for (const topic of helpTopics) expect(french.some(([, its]) => its === topic)).toBe(true);
});

/** All texts of the product in one language. */
const wordsOf = (texts: object): string[] =>
  Object.values(texts).flatMap((text: string | object) => (typeof text === "string" ? [text] : wordsOf(text)));

/** Texts of browsers and phones, not of the product. */
const foreign = /écran d'accueil|home screen|ecrã principal|^(autorisations|permissions|permissões)$/i;

test("texts that an answer quotes exist on the screen", () => {
  for (const [language, texts] of Object.entries({ fr, en, pt })) {
    const known = new Set(wordsOf(texts));
    for (const { id, question, answer } of helpQuestions[language as keyof typeof helpQuestions]) {
      const named = `${question} ${answer}`.matchAll(/[«“]\s*(.+?)\s*[»”]/gu);
      for (const [, words = ""] of named)
        expect(known.has(words) || foreign.test(words), `${language} ${id}: ${words}`).toBe(true);
    }
  }
});

test("a text is found without accents and capitals, by words in any order", () => {
  const ids = (query: string, language: (typeof languages)[number] = "fr") =>
    searchHelpQuestions(helpQuestions[language], query).map(({ id }) => id);
  expect(ids("reseau")).toEqual(ids("RÉSEAU"));
  expect(ids("numero voit")[0]).toBe("number");
  expect(ids("  voit,   numéro ? ")[0]).toBe("number");
  expect(ids("palavra passe", "pt")[0]).toBe("password");
  expect(ids("sim card", "en")[0]).toBe("lost");
  // A word that is in neither text.
  expect(ids("forfait")).toContain("callData");
});

test("a question that contains the words comes before an answer that does", () => {
  const found = searchHelpQuestions(helpQuestions.en, "group");
  expect(found[0]?.id).toBe("groups");
  expect(found.length).toBeGreaterThan(1);
});

test("unknown words find nothing; of several words most are enough if no question has all", () => {
  expect(searchHelpQuestions(helpQuestions.fr, "zzz")).toEqual([]);
  expect(searchHelpQuestions(helpQuestions.fr, "le zzz")).toEqual([]);
  expect(searchHelpQuestions(helpQuestions.fr, "groupe zzz yyy")).toEqual([]);
  expect(searchHelpQuestions(helpQuestions.fr, "groupe zzz")).toEqual(searchHelpQuestions(helpQuestions.fr, "groupe"));
  const some = searchHelpQuestions(helpQuestions.fr, "numero voit zzz");
  expect(some[0]).toEqual(searchHelpQuestions(helpQuestions.fr, "numero voit")[0]);
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
const known = { version: "0.1.0 (dev)", link: "online", trouble: "none", waiting };

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
