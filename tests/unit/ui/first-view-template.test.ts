import { expect, test } from "vitest";
import type { AppTemplate } from "#contract/wire/document/document-headers.ts";
import { fillTemplate } from "#first-view/template.ts";

const template: AppTemplate = {
  html: '<html lang="%language%"><style>%css%</style><main data-user="%user%">%view%</main><a>%hint%</a><script>%data%</script></html>',
  hints: { fr: "%view%", en: "Reload", pt: "Recarregar" },
  styles: [{ css: "main{}" }],
  scriptHashes: [],
  styleHashes: [],
};

test("texts of people may contain the marks of the template and of replacements", async () => {
  const { html } = await fillTemplate(template, {
    user: "me",
    language: "fr",
    view: "<p>%data% %hint% %css% $&</p>",
    data: '{"text":"%view% %data% $1 </script>"}',
  });
  expect(html).toBe(
    '<html lang="fr"><style>main{}</style><main data-user="me"><p>%data% %hint% %css% $&</p></main><a>%view%</a>' +
      '<script>{"text":"%view% %data% $1 \\u003c/script>"}</script></html>',
  );
});
