import { trustedTypesPolicy } from "#contract/wire/document/document-headers.ts";

type ScriptUrlPolicy = { createScriptURL(url: string): string };
type TrustedTypes = { createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptUrlPolicy };

/** Whether a URL is one of our scripts; uploaded content is served under /api. */
const isOwnScript = (url: string): boolean => {
  const { origin, pathname } = new URL(url, location.href);
  return origin === location.origin && !pathname.startsWith("/api/");
};

const createPolicy = (): ScriptUrlPolicy | undefined =>
  (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(trustedTypesPolicy, {
    createScriptURL(url) {
      if (!isOwnScript(url)) throw new TypeError(`not a script of ours: ${url}`);
      return url;
    },
  });

let policy: ScriptUrlPolicy | undefined;

/** URL for starting a worker. The pages enforce Trusted Types for it; this is the only policy. */
export const toTrustedUrl = (url: string): string => {
  policy ??= createPolicy();
  return policy?.createScriptURL(url) ?? url;
};
