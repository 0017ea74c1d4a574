import { createHash } from "node:crypto";
import { brotliCompressSync, constants } from "node:zlib";
import type { Provider } from "#contract/auth/security.ts";
import { escapeHtmlText } from "#worker/mail/html.ts";

/**
 * Entry pages with a button for each provider. The build does not know the providers and writes templates: a list in
 * the head, and one button with placeholders for id and name.
 */
export type ProviderPage = { html: string; brotli: Uint8Array; etag: string };

const buttonTemplate = /<li data-provider="%id%">.*?<\/li>/s;

const fillTemplate = (template: string, providers: readonly Provider[]): string =>
  template
    .replace("%providers%", () => escapeHtmlText(JSON.stringify(providers)))
    .replace(buttonTemplate, (one) =>
      providers
        .map(({ id, name }) =>
          one.replaceAll("%id%", () => escapeHtmlText(id)).replaceAll("%name%", () => escapeHtmlText(name)),
        )
        .join(""),
    );

const cachedPages = new Map<string, ProviderPage>();

/** Page of a template, rendered once per isolate because its settings do not change. */
export const getProviderPage = (name: string, template: string, providers: readonly Provider[]): ProviderPage => {
  const known = cachedPages.get(name);
  if (known) return known;
  const html = fillTemplate(template, providers);
  const page = {
    html,
    brotli: new Uint8Array(
      brotliCompressSync(html, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
      }),
    ),
    etag: `"${createHash("sha256").update(html).digest("base64url")}"`,
  };
  cachedPages.set(name, page);
  return page;
};
