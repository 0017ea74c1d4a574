import { defineConfig, presetIcons, presetWind4, transformerDirectives, transformerVariantGroup } from "unocss";

export default defineConfig({
  presets: [
    presetWind4({ preflights: { reset: true } }),
    presetIcons({ prefix: "i-", extraProperties: { display: "inline-block", "vertical-align": "middle" } }),
  ],
  transformers: [transformerDirectives(), transformerVariantGroup()],
});
