// Used by vite.config.ts: marks the calls that build Valibot schemas in contract/ as free of side effects, so that the
// client does not contain the schemas that only the Worker uses.
import { join } from "node:path";
import { root } from "../run.mjs";

const contractFolder = `${join(root, "contract").replaceAll("\\", "/")}/`;
const schemaCall = /\bv\.(?!is\b|parse\b|safeParse\b)\w+\(/g;

/** @type {import("vite").Plugin} */
export const pureSchemas = {
  name: "lisolo:pure-schemas",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  transform: (code, id) =>
    id.startsWith(contractFolder) ? { code: code.replace(schemaCall, "/* @__PURE__ */ $&"), map: null } : null,
};
