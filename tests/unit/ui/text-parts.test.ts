import { afterEach, expect, test, vi } from "vitest";
import { loadLanguage, loadWithIdleTexts, loadWithTexts, t } from "#i18n/setup.ts";

const { parts } = vi.hoisted(() => ({ parts: { idle: 0, lazy: 0 } }));
vi.mock("../../../src/i18n/fr.json?app", () => ({
  default: { common: { back: "Retour" }, errors: { internal: "Erreur" } },
}));
vi.mock("../../../src/i18n/fr.json?idle", () => {
  parts.idle++;
  return { default: { errors: { group_full: "Le groupe est complet" }, notifier: { newMessage: "Nouveau message" } } };
});
vi.mock("../../../src/i18n/fr.json?lazy", () => {
  parts.lazy++;
  return { default: { help: { title: "Aide" } } };
});

afterEach(() => {
  vi.restoreAllMocks();
});

test("the texts of the app come in parts, and no error is named by its key", async () => {
  await loadLanguage("fr", "app");
  expect(t("common.back")).toBe("Retour");
  expect(parts).toEqual({ idle: 0, lazy: 0 });

  expect(await loadWithIdleTexts(async () => t("notifier.newMessage"))).toBeDefined();
  expect(t("notifier.newMessage")).toBe("Nouveau message");

  await loadWithTexts(async () => undefined);
  expect(t("help.title")).toBe("Aide");
  expect(parts).toEqual({ idle: 1, lazy: 1 });
});

test("components render again for a further part only if they asked for one of its texts", async () => {
  vi.resetModules();
  const setup = await import("#i18n/setup.ts");
  const renderAll = vi.fn();
  await setup.loadLanguage("fr", "app");
  setup.i18n.on("languageChanged", renderAll);
  expect(setup.t("common.back")).toBe("Retour");
  await setup.loadWithIdleTexts(async () => undefined);
  expect(setup.t("notifier.newMessage")).toBe("Nouveau message");
  expect(renderAll).not.toHaveBeenCalled();
  expect(setup.t("help.title")).toBe("help.title");
  await setup.loadWithTexts(async () => undefined);
  expect(setup.t("help.title")).toBe("Aide");
  expect(renderAll).toHaveBeenCalledOnce();
});

test("an error whose text is still missing is named in general", async () => {
  vi.resetModules();
  const setup = await import("#i18n/setup.ts");
  await setup.loadLanguage("fr", "app");
  expect(setup.t("errors.group_full")).toBe("Erreur");
  await vi.waitFor(() => expect(setup.t("errors.group_full")).toBe("Le groupe est complet"));
});
