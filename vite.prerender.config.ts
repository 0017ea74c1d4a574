import react from "@vitejs/plugin-react";
import unocss from "unocss/vite";
import { defineConfig } from "vite";
import { inlineScripts } from "./scripts/build/inline-scripts.mjs";
import { wholeTexts } from "./scripts/build/text-parts.mjs";

// Builds src/prerender/main.tsx for Node. scripts/build/build.mjs runs it with the folder of the built client, whose
// HTML it completes.
export default defineConfig({
  publicDir: false,
  plugins: [wholeTexts, inlineScripts, unocss(), react()],
  build: {
    ssr: "src/prerender/main.tsx",
    target: "node22",
    // Two inline scripts of the documents are source texts of functions (document.ts).
    minify: true,
    rolldownOptions: { output: { entryFileNames: "main.js" } },
  },
  // UnoCSS loads its icons from its own folder.
  ssr: { noExternal: true, external: ["unocss"] },
});
