import { cloudflare } from "@cloudflare/vite-plugin";
import react from "@vitejs/plugin-react";
import unocss from "unocss/vite";
import { defineConfig } from "vite";
import { chunkGroups } from "./scripts/build/chunks.mjs";
import { lazyIcons, moveLazyIconsToLayer } from "./scripts/build/lazy-icons.mjs";
import { partnerPlugin } from "./scripts/build/partner.mjs";
import { textParts, wholeTexts } from "./scripts/build/text-parts.mjs";

// LISOLO_STATE is set by scripts/local/dev.mjs so development shares its data with `npm start`.
const state = process.env["LISOLO_STATE"];
// Set for what runs on this machine only: mails are kept, and shown under /dev/mail, and the clock can be set. What is deployed knows nothing of it.
const hasMailbox = process.env["LISOLO_MAILBOX"] === "1";

export default defineConfig({
  define: { LOCAL_MAILBOX: JSON.stringify(hasMailbox) },
  // The build of Dexie for browsers that know classes and async: smaller than the one its package names.
  resolve: { alias: { dexie: "dexie/dist/modern/dexie.mjs" } },
  plugins: [
    lazyIcons,
    wholeTexts,
    textParts,
    partnerPlugin,
    unocss({ postprocess: moveLazyIconsToLayer }),
    react(),
    cloudflare({
      persistState: state ? { path: state } : true,
      inspectorPort: false,
      config: (config) => {
        const first = config.assets?.run_worker_first;
        if (!hasMailbox) return;
        if (Array.isArray(first)) first.push("/dev/mail", "/dev/clock");
        // `wrangler deploy` on a build for this machine ends here: it would show everybody's mails to everybody.
        config.name = "lisolo-local";
        config.account_id = "this-build-is-for-this-machine-only";
        // A deployment writes its address into wrangler.toml; a server of this machine answers by its own.
        config.vars = { ...config.vars, PUBLIC_URL: process.env["PUBLIC_URL"] ?? "" };
      },
    }),
  ],
  environments: {
    client: {
      build: {
        // Cheap Androids whose WebView stopped being updated in 2022, and the Safari of their time.
        target: ["chrome100", "safari15"],
        modulePreload: { polyfill: false },
        // The app, and the script of the prerendered entry pages, which shares only what both need.
        rolldownOptions: {
          input: { index: "index.html", entry: "src/entry.tsx" },
          output: { codeSplitting: { groups: chunkGroups } },
        },
        sourcemap: "hidden",
        // Read by the service worker and prerender steps of scripts/build/build.mjs, which then puts it beside what is served.
        manifest: true,
      },
    },
  },
});
