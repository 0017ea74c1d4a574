// Used by vite.prerender.config.ts: `import text from "./script.ts?script"` is the text of a classic script that runs the
// module with everything that it imports, for the same browsers as the client.
import { build } from "vite";
import { pureSchemas } from "./pure-schemas.mjs";
import { clientTargets } from "./targets.mjs";

const query = "?script";

/** @type {import("vite").Plugin} */
export const inlineScripts = {
  name: "lisolo:inline-scripts",
  enforce: "pre",
  async load(id) {
    if (!id.endsWith(query)) return undefined;
    const result = await build({
      configFile: false,
      publicDir: false,
      logLevel: "warn",
      plugins: [pureSchemas],
      build: {
        target: clientTargets,
        write: false,
        modulePreload: false,
        rolldownOptions: { input: id.slice(0, -query.length), output: { format: "iife" } },
      },
    });
    const [script] = "output" in result ? result.output : [];
    if (script?.type !== "chunk") throw new Error(`${id} is not one script`);
    for (const module of Object.keys(script.modules)) this.addWatchFile(module);
    return `export default ${JSON.stringify(script.code.trim())};`;
  },
};
