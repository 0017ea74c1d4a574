import {
  type CSSObject,
  defineConfig,
  type Preset,
  presetIcons,
  presetWind3,
  type Rule,
  transformerDirectives,
  transformerVariantGroup,
  type Variant,
} from "unocss";

const remPx = 16; // default font size of browsers
const boxSide = /^(padding|margin|gap|row-gap|column-gap|top|right|bottom|left|(min-)?(width|height)|flex-basis)/;
const rem = /^(-?[\d.]+)rem$/;

/**
 * Spacing scale (p-4, size-12) in pixels: text grows with the browser's font size, while touch targets and gaps keep
 * theirs and leave it the width. Sizes that must grow with the text are written in brackets: h-[4.75rem].
 */
const stepsInPixels: Preset = {
  name: "steps-in-pixels",
  postprocess: (utility) => {
    if (/rem\\\]/.test(utility.selector)) return;
    for (const entry of utility.entries) {
      const [, steps] = rem.exec(String(entry[1])) ?? [];
      if (steps !== undefined && boxSide.test(entry[0])) entry[1] = `${Number(steps) * remPx}px`;
    }
  },
};

const shadows: Readonly<Record<string, string>> = {
  sm: "0 1px 2px rgb(0 0 0 / 0.05)",
  md: "0 4px 6px -1px rgb(0 0 0 / 0.1),0 2px 4px -2px rgb(0 0 0 / 0.1)",
  lg: "0 10px 15px -3px rgb(0 0 0 / 0.1),0 4px 6px -4px rgb(0 0 0 / 0.1)",
  xl: "0 20px 25px -5px rgb(0 0 0 / 0.1),0 8px 10px -6px rgb(0 0 0 / 0.1)",
};

/**
 * Utilities that presetWind3 builds from custom properties, so that several on one element combine. It sets fifty such
 * properties on every element of the page, which slows down each calculation of styles. Here each utility is complete by
 * itself: of those that set the same property, an element has one.
 */
const staticUtilities: Rule[] = [
  [/^shadow-(sm|md|lg|xl)$/, ([, size = ""]) => ({ "box-shadow": shadows[size] ?? "" })],
  [/^shadow-\[(.+)\]$/, ([, value = ""]) => ({ "box-shadow": value.replaceAll("_", " ") })],
  [/^rotate-(\d+)$/, ([, degrees = ""]) => ({ transform: `rotate(${degrees}deg)` })],
  [/^scale-(\d+)$/, ([, percent = ""]) => ({ transform: `scale(${Number(percent) / 100})` })],
  ["blur-sm", { filter: "blur(4px)" }],
  [/^brightness-(\d+)$/, ([, percent = ""]) => ({ filter: `brightness(${Number(percent) / 100})` })],
  ["tabular-nums", { "font-variant-numeric": "tabular-nums" }],
  ["touch-pan-y", { "touch-action": "pan-y" }],
];

/** Custom property of a preset without a value: `var(--un-x)` where the utility does not set `--un-x` itself. */
const findUnsetVariable = (entries: readonly (readonly unknown[])[]): string | undefined => {
  const set = new Set(entries.map(([name]) => name));
  const used = entries.flatMap(([, value]) => [...String(value).matchAll(/var\((--un-[\w-]+)\)/g)]);
  return used.map(([, name]) => name).find((name) => !set.has(name) && !name?.startsWith("--un-gradient"));
};

/** Rejects utilities that rely on the custom properties that `staticUtilities` replaces. */
const rejectUnsetVariables: Preset = {
  name: "reject-unset-variables",
  postprocess: ({ selector, entries }) => {
    const variable = findUnsetVariable(entries);
    if (variable) throw new Error(`uno.config.ts: ${selector} needs ${variable}: add it to staticUtilities`);
  },
};

/**
 * Styles of an icon. Its picture stands in the rule itself instead of a custom property, which every element would
 * resolve and parse again.
 */
const completeIcon = (css: CSSObject): void => {
  const { "--un-icon": picture, mask: _, "mask-size": __, ...others } = css;
  for (const name of Object.keys(css)) delete css[name];
  Object.assign(css, others, {
    ...(picture === undefined ? {} : { "-webkit-mask": `${picture} no-repeat` }), // known to every browser, also as an alias
    display: "inline-block",
    "vertical-align": "middle",
    "flex-shrink": "0",
  });
};

/**
 * Icons of the app's own stylesheet: those of the conversation list, a chat with texts and the shell. All others stand in
 * a sheet that loads with later code (`src/lib/browser/later-icons.ts`): together, icons are larger than all other styles.
 */
const openingIcons = new Set(
  `
  address-book address-book-fill arrow-bend-up-right arrow-down-bold arrow-left-bold arrows-clockwise bell-slash
  chat-circle-dots chat-circle-dots-fill chat-circle-text chats-circle check-bold checks-bold clock cloud-slash
  dots-three-vertical-bold eye eye-fill file image magnifying-glass microphone microphone-fill note-pencil
  paper-plane-right-fill phone phone-fill phone-incoming phone-outgoing phone-x plus prohibit prohibit-bold push-pin-fill
  question squares-four squares-four-fill star-fill trash user user-circle-dashed user-plus user-plus-fill
  users-three-fill video-camera video-camera-slash warning warning-circle-fill x-circle
  `
    .trim()
    .split(/\s+/)
    .map((name) => `i-ph-${name}`),
);

/** Layer of all icons that are not needed at the opening: `virtual:uno:later-icons.css`. */
const laterIcons: Variant = {
  name: "later-icons",
  match: (name) =>
    name.startsWith("i-ph-") && !openingIcons.has(name) ? { matcher: name, layer: "later-icons" } : undefined,
};

/** Gives icons no specificity: the classes for their size and colour win, in whichever sheet they stand. */
const weakIcons: Preset = {
  name: "weak-icons",
  postprocess: (utility) => {
    if (utility.selector.startsWith(".i-ph-")) utility.selector = `:where(${utility.selector})`;
  },
};

// presetWind3 instead of presetWind4: the latter emits color-mix() and @property, which Chrome below 111 does not
// support. Colours are custom properties of src/app/theme.css, so a class works in light and dark.
export default defineConfig({
  presets: [
    presetWind3({ preflight: false }),
    presetIcons({ prefix: "i-", processor: completeIcon }),
    stepsInPixels,
    rejectUnsetVariables,
    weakIcons,
  ],
  variants: [laterIcons],
  // Words of the code that would be taken for classes.
  blocklist: "!filter blur container filter inline me ms outline pt resize ring static tab transform".split(" "),
  transformers: [transformerDirectives(), transformerVariantGroup()],
  theme: {
    colors: {
      bg: "var(--bg)",
      surface: "var(--surface)",
      raised: "var(--raised)", // hovered and pressed rows, chips, skeleton background
      text: "var(--text)",
      muted: "var(--muted)",
      line: "var(--line)", // separators
      field: "var(--field)", // outline of an input, with 3:1 contrast on every background
      accent: "var(--accent)",
      "accent-soft": "var(--accent-soft)",
      "on-accent": "var(--on-accent)",
      own: "var(--own)",
      danger: "var(--danger)",
      "danger-soft": "var(--danger-soft)",
      read: "var(--read)",
      found: "var(--found)", // background of search matches
      "on-found": "var(--on-found)",
    },
    // Fill colours differ from text colours of the same meaning, because white text is placed on them.
    backgroundColor: {
      accent: "var(--accent-fill)",
      "accent-hover": "var(--accent-fill-hover)",
      danger: "var(--danger-fill)",
      accept: "var(--accept-fill)", // accepting a call, distinguishable from rejecting it by colour too
    },
    borderRadius: { card: "14px", bubble: "18px" },
    fontFamily: { sans: "var(--font)" },
  },
  rules: [
    ...staticUtilities,
    // Safe areas for notches and gesture bars.
    ["pt-safe", { "padding-top": "env(safe-area-inset-top)" }],
    ["pb-safe", { "padding-bottom": "env(safe-area-inset-bottom)" }],
  ],
});
