import type { AppTemplate } from "#contract/wire/document/document-headers.ts";

/** The app's page without content. */
export const staticPage = "<!doctype html>the app without content";

const template: AppTemplate = {
  hints: { fr: "Recharger", en: "Reload", pt: "Recarregar" },
  html: '<html lang="%language%"><style>%css%</style><main data-user="%user%" data-conversation="%conversation%">%view%</main><a>%hint%</a><script id="first-data">%data%</script></html>',
  styles: [
    { css: "main{color:red}" },
    { css: ".i-ph-check-bold{}", classes: ["i-ph-check-bold"] },
    { css: ".i-ph-unused{}", classes: ["i-ph-unused"] },
  ],
  scriptHashes: ["sha256-script"],
  styleHashes: ["sha256-style"],
};

/**
 * Static files as the platform serves them: the app's page is the answer for missing files. A runtime reads its template
 * once, so all test files that share one use this.
 */
export const ASSETS = {
  fetch: async (request: Request) =>
    new URL(request.url).pathname === "/entry/app-template.json"
      ? Response.json(template)
      : new Response(staticPage, { headers: { "content-type": "text/html" } }),
};
