import { join } from "node:path";
import { unstable_readConfig as readConfig } from "wrangler";
import { root } from "../run.mjs";

/**
 * Partner site configured in wrangler.toml: an https URL, or undefined.
 * @param {unknown} setting
 */
export function parsePartnerUrl(setting) {
  if (setting === undefined || setting === "") return undefined;
  const url = typeof setting === "string" ? URL.parse(setting) : null;
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "")
    throw new Error("PARTNER_URL in wrangler.toml has to be an https address, or empty");
  return url.href;
}

const demoPartner = "https://example.com/";

/**
 * Partner site of a build: the configured one, or an example for the demo (`npm start -- --demo`).
 * @param {unknown} setting @param {boolean} isDemo
 */
export const resolvePartnerUrl = (setting, isDemo) => parsePartnerUrl(setting) ?? (isDemo ? demoPartner : undefined);

/**
 * Writes the partner site into the app's page, where src/features/services reads it without a request, also offline.
 * @type {import("vite").Plugin}
 */
export const partnerPlugin = {
  name: "partner",
  transformIndexHtml() {
    const { vars } = readConfig({ config: join(root, "wrangler.toml") }, { hideWarnings: true });
    const address = resolvePartnerUrl(vars["PARTNER_URL"], process.env["LISOLO_DEMO"] === "1");
    return address ? [{ tag: "meta", attrs: { name: "partner", content: address }, injectTo: "head" }] : [];
  },
};
