import { defineConfig } from "vite";

// The service worker is one classic script at /sw.js: module workers need newer browsers than the product supports.
export default defineConfig({
  publicDir: false,
  // Scripts and styles of this build for the service worker's cache: `declare const __ASSETS__: readonly string[]`.
  define: { __ASSETS__: process.env["LISOLO_ASSETS"] ?? "[]" },
  build: {
    target: ["chrome100", "safari15"],
    emptyOutDir: false,
    sourcemap: "hidden",
    rolldownOptions: { input: "src/sw.ts", output: { format: "iife", entryFileNames: "sw.js" } },
  },
});
