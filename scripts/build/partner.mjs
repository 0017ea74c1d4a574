import { join } from "node:path";
import { unstable_readConfig as readConfig } from "wrangler";
import { root } from "../run.mjs";

/** The partner's site as wrangler.toml names it: an https address, or none. @param {unknown} setting */
export function parsePartnerUrl(setting) {
  if (setting === undefined || setting === "") return undefined;
  const url = typeof setting === "string" ? URL.parse(setting) : null;
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "")
    throw new Error("PARTNER_URL in wrangler.toml has to be an https address, or empty");
  return url.href;
}

const demoPartner = "https://example.com/";

/**
 * The partner of a build: the one that wrangler.toml names; in one for the demo (`npm start -- --demo`) otherwise an example.
 * @param {unknown} setting @param {boolean} isDemo
 */
export const resolvePartnerUrl = (setting, isDemo) => parsePartnerUrl(setting) ?? (isDemo ? demoPartner : undefined);

/**
 * Writes it into the app's page, where src/features/services reads it: no request asks for it, and it is there offline.
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
