import { expect, test } from "vitest";
import { findLoadedLevels, listDynamicImports, textLevels } from "#scripts/build/text-loading.mjs";

const { app, idle, lazy } = textLevels;

const listLevels = (code: string) =>
  Object.fromEntries(listDynamicImports("module.tsx", code).map(({ path, level }) => [path, level]));

test("a dynamic import has the texts that its loader loads", () => {
  const code = `
    const Plain = lazyComponent(() => import("./plain.tsx"));
    const Idle = lazyComponent(() => loadWithIdleTexts(() => import("./idle.tsx")));
    const Sheet = lazyOverlay(async () => { const [sheet] = await Promise.all([import("./sheet.tsx")]); return sheet; });
    export const open = () => loadOrShowToast(() => import("./toast.tsx"));
    export const openFast = () => loadOrShowToast(() => import("./fast.tsx"), loadWithIdleTexts);
  `;
  expect(listLevels(code)).toEqual({
    "./plain.tsx": app,
    "./idle.tsx": idle,
    "./sheet.tsx": lazy,
    "./toast.tsx": lazy,
    "./fast.tsx": idle,
  });
});

test("a dynamic import in a function has the texts that every call of it loads", () => {
  const code = `
    const loadDialogs = () => import("./dialogs.tsx");
    const Menu = lazyIdleOverlay(async () => ({ default: (await loadDialogs()).Menu }));
    const loadTools = () => import("./tools.tsx");
    const show = () => loadWithTexts(loadTools);
    const showNow = () => loadTools();
    export const loadUnused = () => import("./exported.tsx");
  `;
  expect(listLevels(code)).toEqual({ "./dialogs.tsx": idle, "./tools.tsx": app, "./exported.tsx": app });
});

test("a module has the texts of the way that loads the fewest", () => {
  const imports: Record<string, { id: string; level: number }[]> = {
    main: [
      { id: "screen", level: lazy },
      { id: "menu", level: idle },
    ],
    screen: [{ id: "shared", level: app }],
    menu: [
      { id: "shared", level: app },
      { id: "dialog", level: lazy },
    ],
  };
  expect(Object.fromEntries(findLoadedLevels(["main"], (id) => imports[id] ?? []))).toEqual({
    main: app,
    screen: lazy,
    menu: idle,
    shared: idle,
    dialog: lazy,
  });
});
