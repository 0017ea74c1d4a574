import {
  defineConfig,
  type Preset,
  presetIcons,
  presetWind3,
  transformerDirectives,
  transformerVariantGroup,
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

// presetWind3 instead of presetWind4: the latter emits color-mix() and @property, which Chrome below 111 does not
// support. Colours are custom properties of src/app/theme.css, so a class works in light and dark.
export default defineConfig({
  presets: [
    presetWind3({ preflight: "on-demand" }),
    presetIcons({
      prefix: "i-",
      extraProperties: { display: "inline-block", "vertical-align": "middle", "flex-shrink": "0" },
    }),
    stepsInPixels,
  ],
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
    // Safe areas for notches and gesture bars.
    ["pt-safe", { "padding-top": "env(safe-area-inset-top)" }],
    ["pb-safe", { "padding-bottom": "env(safe-area-inset-bottom)" }],
  ],
});
