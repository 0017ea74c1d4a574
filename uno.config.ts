import {
  defineConfig,
  type Preset,
  presetIcons,
  presetWind3,
  transformerDirectives,
  transformerVariantGroup,
} from "unocss";

const remPx = 16; // the root's text as browsers come
const boxSide = /^(padding|margin|gap|row-gap|column-gap|top|right|bottom|left|(min-)?(width|height)|flex-basis)/;
const rem = /^(-?[\d.]+)rem$/;

/**
 * The steps of the scale (p-4, size-12) in pixels: whoever sets the browser's text to twice its size gets text of that
 * size, and keeps the width around it, which touch targets and gaps would take. What must grow with its text says so
 * in brackets: h-[4.75rem].
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

// presetWind3, not presetWind4: the latter writes color-mix() and @property, which Chrome below 111 does not read.
// Colours are custom properties of src/app/theme.css, so a class is right in light and in dark.
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
      raised: "var(--raised)", // hovered and pressed rows, chips, the ground of a skeleton
      text: "var(--text)",
      muted: "var(--muted)",
      line: "var(--line)", // hairlines between things
      field: "var(--field)", // the outline of an input: 3:1 on every ground
      accent: "var(--accent)",
      "accent-soft": "var(--accent-soft)",
      "on-accent": "var(--on-accent)",
      own: "var(--own)",
      danger: "var(--danger)",
      "danger-soft": "var(--danger-soft)",
      read: "var(--read)",
      found: "var(--found)", // the ground of words a search found
      "on-found": "var(--on-found)",
    },
    // A filled ground needs another shade than a text of the same meaning: white text stands on it.
    backgroundColor: {
      accent: "var(--accent-fill)",
      "accent-hover": "var(--accent-fill-hover)",
      danger: "var(--danger-fill)",
      accept: "var(--accept-fill)", // taking a call: told from refusing it by colour too
    },
    borderRadius: { card: "14px", bubble: "18px" },
    fontFamily: { sans: "var(--font)" },
  },
  rules: [
    // Room for the notch and the gesture bar of phones.
    ["pt-safe", { "padding-top": "env(safe-area-inset-top)" }],
    ["pb-safe", { "padding-bottom": "env(safe-area-inset-bottom)" }],
  ],
});
