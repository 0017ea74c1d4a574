import { defineConfig } from "vite";
import { clientTargets } from "./scripts/build/targets.mjs";

// The service worker is one classic script at /sw.js: module workers need newer browsers than the product supports.
export default defineConfig({
  publicDir: false,
  // Scripts and styles of this build for the service worker's cache: `declare const __ASSETS__: readonly string[]`.
  define: { __ASSETS__: process.env["LISOLO_ASSETS"] ?? "[]" },
  build: {
    target: clientTargets,
    emptyOutDir: false,
    sourcemap: "hidden",
    rolldownOptions: { input: "src/sw.ts", output: { format: "iife", entryFileNames: "sw.js" } },
  },
});
