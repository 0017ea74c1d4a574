import { defineConfig } from "vite";

// The service worker is one classic script at /sw.js: a module would need newer browsers than the product does.
export default defineConfig({
  publicDir: false,
  // Every script and style of this build, for the service worker to keep: `declare const __ASSETS__: readonly string[]`.
  define: { __ASSETS__: process.env["LISOLO_ASSETS"] ?? "[]" },
  build: {
    target: ["chrome100", "safari15"],
    emptyOutDir: false,
    sourcemap: "hidden",
    rolldownOptions: { input: "src/sw.ts", output: { format: "iife", entryFileNames: "sw.js" } },
  },
});
