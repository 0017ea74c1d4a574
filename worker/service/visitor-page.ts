import { html, raw } from "hono/html";
import type { Language } from "#contract/language.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";

/** The page needs no script: it opens at once in the browser inside another app. */
const style = `
:root { color-scheme: light dark; --ink: #231a20; --paper: #fbf7f4; --card: #fff; --line: #e6dcd8; --accent: #86295f; --on-accent: #fff; --muted: #6d5f68; }
@media (prefers-color-scheme: dark) { :root { --ink: #f3ecf0; --paper: #17121a; --card: #221b26; --line: #3b3140; --accent: #eba3cc; --on-accent: #2b0d1f; --muted: #b3a5ae; } }
body { margin: 0; min-height: 100svh; display: grid; place-items: center; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { box-sizing: border-box; width: min(100%, 26rem); padding: 1.5rem 1rem; text-align: center; }
section { padding: 1.5rem 1rem; border: 1px solid var(--line); border-radius: 14px; background: var(--card); }
.brand { margin: 0 0 1rem; color: var(--accent); font-weight: 700; font-size: 1.25rem; }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0 0 1.25rem; color: var(--muted); }
button, a { box-sizing: border-box; display: block; width: 100%; min-height: 48px; margin-top: .75rem; padding: .65rem 1rem; border: 1px solid var(--accent); border-radius: 14px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
form + form button, a + a { background: transparent; color: var(--accent); }
`;

let policy: Promise<string> | undefined;
const createPolicy = async (): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(hash)));
  return `default-src 'none'; style-src 'sha256-${base64}'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`;
};

type VisitorPage = {
  language: Language;
  title: string;
  content: ReturnType<typeof html>;
  status?: 200 | 404;
};

/** Page for people without an account who followed a link of somebody. */
export const createVisitorPage = async ({ language, title, content, status = 200 }: VisitorPage): Promise<Response> => {
  const page =
    await html`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><style>${raw(style)}</style></head><body><main><p class="brand">Lisolo</p><section>${content}</section></main></body></html>`;
  policy ??= createPolicy();
  return new Response(String(page), {
    status,
    headers: {
      ...emptyHeaders,
      "content-security-policy": await policy,
      "content-type": "text/html; charset=utf-8",
      "content-language": language,
      // Without it browsers send the origin "null" with the form.
      "referrer-policy": "same-origin",
    },
  });
};
