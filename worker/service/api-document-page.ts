import { html, raw } from "hono/html";
import type { ApiDocument } from "./api-document.ts";

/** Renders the OpenAPI document as one HTML page, without scripts or external resources. */
const style = `
:root { color-scheme: light dark; --ink: #231a20; --paper: #fbf7f4; --card: #fff; --line: #e6dcd8; --accent: #86295f; --muted: #6d5f68; }
@media (prefers-color-scheme: dark) { :root { --ink: #f3ecf0; --paper: #17121a; --card: #221b26; --line: #3b3140; --accent: #eba3cc; --muted: #b3a5ae; } }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h2 { margin-top: 2.5rem; text-transform: capitalize; }
details { margin: .5rem 0; border: 1px solid var(--line); border-radius: 14px; background: var(--card); }
summary { padding: .75rem 1rem; cursor: pointer; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4.5rem; color: var(--accent); }
summary span { display: block; color: var(--muted); }
details > div { padding: 0 1rem 1rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 8px; font-size: 13px; }
dt { margin-top: .5rem; font-weight: 600; } dd { margin: 0 0 0 1rem; overflow-wrap: anywhere; }
`;

let policy: Promise<string> | undefined;
const createDocumentationPolicy = async (): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(hash)));
  return `default-src 'none'; style-src 'sha256-${base64}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
};
export const getDocumentationPolicy = (): Promise<string> => {
  policy ??= createDocumentationPolicy();
  return policy;
};

const methods = ["get", "post", "put", "patch", "delete"] as const;
type ApiOperation = NonNullable<NonNullable<ApiDocument["paths"][string]>["get"]>;
type OperationEntry = { method: string; path: string; operation: ApiOperation };

const listOperations = (document: ApiDocument): OperationEntry[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item?.[method] as ApiOperation | undefined;
      return operation ? [{ method: method.toUpperCase(), path, operation }] : [];
    }),
  );

const formatSchemas = (content: Record<string, { schema?: unknown }> | undefined): string =>
  Object.entries(content ?? {})
    .map(([type, { schema }]) => `${type}\n${JSON.stringify(schema, null, 2)}`)
    .join("\n");

const listParameters = ({ parameters: all = [] }: ApiOperation) =>
  all.flatMap((parameter) =>
    "name" in parameter ? [`${parameter.name} (${parameter.in}${parameter.required ? "" : ", optional"})`] : [],
  );

const renderResponses = (operation: ApiOperation) =>
  Object.entries(operation.responses ?? {}).map(([status, response]) => {
    if (!("description" in response)) return "";
    const isRefusal = Number(status) >= 400;
    const schema = isRefusal ? "" : formatSchemas("content" in response ? response.content : undefined);
    return html`<dt>${status}</dt><dd>${response.description}${schema ? html`<pre>${schema}</pre>` : ""}</dd>`;
  });

const renderOperation = ({ method, path, operation }: OperationEntry) => {
  const body =
    operation.requestBody && "content" in operation.requestBody ? formatSchemas(operation.requestBody.content) : "";
  const isOpen = operation.security?.length === 0;
  return html`<details>
    <summary><b>${method}</b> <code>${path}</code>${isOpen ? " (open to visitors)" : ""}<span>${operation.summary}</span></summary>
    <div>
      ${listParameters(operation).map((parameter) => html`<p><code>${parameter}</code></p>`)}
      ${body ? html`<p>Body</p><pre>${body}</pre>` : ""}
      <dl>${renderResponses(operation)}</dl>
    </div>
  </details>`;
};

export const renderDocumentation = (document: ApiDocument) => {
  const entries = listOperations(document);
  const tags = [...new Set(entries.map(({ operation }) => operation.tags?.[0] ?? "other"))];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title} API</title>
        <style>${raw(style)}</style>
      </head>
      <body>
        <h1>${document.info.title} API</h1>
        <p>${document.info.description}</p>
        ${tags.map(
          (tag) =>
            html`<h2>${tag}</h2>${entries.filter(({ operation }) => operation.tags?.[0] === tag).map(renderOperation)}`,
        )}
      </body>
    </html>`;
};
