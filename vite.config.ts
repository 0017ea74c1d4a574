import { cloudflare } from "@cloudflare/vite-plugin";
import react from "@vitejs/plugin-react";
import unocss from "unocss/vite";
import { defineConfig } from "vite";
import { chunkGroups, isAlwaysLoaded } from "./scripts/build/chunks.mjs";
import { drawnIcons } from "./scripts/build/drawn-icons.mjs";
import { partnerPlugin } from "./scripts/build/partner.mjs";
import { pureSchemas } from "./scripts/build/pure-schemas.mjs";
import { clientTargets } from "./scripts/build/targets.mjs";
import { textParts, wholeTexts } from "./scripts/build/text-parts.mjs";

// Set by scripts/local/dev.mjs, so that development shares its data with `npm start`.
const state = process.env["LISOLO_STATE"];
// Local builds only: mails and codes are kept and shown under /dev/mail and /dev/sms, and the clock is adjustable. Deployments do not contain
// this code.
const hasMailbox = process.env["LISOLO_MAILBOX"] === "1";

export default defineConfig({
  define: { LOCAL_MAILBOX: JSON.stringify(hasMailbox) },
  // Dexie's build for browsers with classes and async functions, smaller than the package's default entry.
  resolve: { alias: { dexie: "dexie/dist/modern/dexie.mjs" } },
  plugins: [
    wholeTexts,
    textParts,
    partnerPlugin,
    pureSchemas,
    drawnIcons,
    unocss(),
    react(),
    cloudflare({
      persistState: state ? { path: state } : true,
      inspectorPort: false,
      config: (config) => {
        const first = config.assets?.run_worker_first;
        if (!hasMailbox) return;
        if (Array.isArray(first)) first.push("/dev/mail", "/dev/sms", "/dev/clock");
        // `wrangler deploy` of a local build fails here: it would show all mails to everybody.
        config.name = "lisolo-local";
        config.account_id = "this-build-is-for-this-machine-only";
        // A deployment writes its URL into wrangler.toml; a local server uses its own address.
        config.vars = { ...config.vars, PUBLIC_URL: process.env["PUBLIC_URL"] ?? "" };
      },
    }),
  ],
  environments: {
    client: {
      build: {
        target: clientTargets,
        modulePreload: {
          polyfill: false,
          // What every page of the app has loaded need not be listed with each dynamic import.
          resolveDependencies: (_file, dependencies, { hostType }) =>
            hostType === "js" ? dependencies.filter((path) => !isAlwaysLoaded(path)) : dependencies,
        },
        // Entries: the app, and the script of the prerendered entry pages; they share only what both need.
        rolldownOptions: {
          input: { index: "index.html", entry: "src/entry.tsx" },
          output: { codeSplitting: { groups: chunkGroups } },
        },
        sourcemap: "hidden",
        // Read by the service worker and prerender steps of scripts/build/build.mjs, which then moves it out of the
        // served folder.
        manifest: true,
      },
    },
  },
});
