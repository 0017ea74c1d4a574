import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { build } from "vite";
import { root } from "#tests/support/server/state.ts";

const style = `body{font-family:system-ui,sans-serif;margin:0;padding:24px;background:#fbf7f4;color:#231a20}
form{display:grid;gap:12px;max-width:360px;margin:auto}input,button{font:inherit;padding:12px;border-radius:12px;border:1px solid #ccc}
button{background:#86295f;color:#fff}`;
const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Connexion</title>`;

/** Floor of a form: one HTML file with inline style and nothing else. */
export const bareHtml = `<!doctype html><html lang="fr"><head>${head}<style>${style}</style></head><body><h1>Connexion</h1>
<form><label for="phone">Numéro de téléphone</label><input id="phone" type="tel" name="phoneNumber">
<label for="password">Mot de passe</label><input id="password" type="password" name="password">
<button>Se connecter</button></form></body></html>`;

/** Every message as an item of a plain list, all at once. */
export const manyMessagesHtml = (texts: string[]): string =>
  `<!doctype html><html lang="fr"><head>${head}<style>${style}</style></head><body><ol>${texts.map((text) => `<li>${text}</li>`).join("")}</ol></body></html>`;

/** Page with one picture only; `/picture` serves the picture. */
const pictureHtml = `<!doctype html><html lang="fr"><head>${head}<style>${style}img{width:100%}</style></head><body><img src="/picture" alt="La photo"></body></html>`;

const reactImports = `import { createRoot } from "react-dom/client";
import { useState } from "react";
`;

const bareLogin = `${reactImports}
function Login() {
  const [phone, setPhone] = useState("");
  const [password, setPassword] = useState("");
  return <><h1>Connexion</h1><form onSubmit={(event) => event.preventDefault()}>
    <label htmlFor="phone">Numéro de téléphone</label>
    <input id="phone" type="tel" name="phoneNumber" value={phone} onChange={(event) => setPhone(event.target.value)} />
    <label htmlFor="password">Mot de passe</label>
    <input id="password" type="password" name="password" value={password} onChange={(event) => setPassword(event.target.value)} />
    <button>Se connecter</button></form></>;
}
createRoot(document.getElementById("root")).render(<Login />);
`;

/** Floor of a search: a field over a list in memory, which shows the first four matches in plain rows. */
export const bareSearch = `${reactImports}
const texts = Array.from({ length: 300 }, (_, n) => "Mbote malamu, nazali na nzela ya Matadi, à bientôt, numéro " + n);
function Match({ text, query }) {
  const at = text.toLowerCase().indexOf(query);
  return <li><b>Ami</b> <time>12:30</time><p>{text.slice(0, at)}<mark>{text.slice(at, at + query.length)}</mark>{text.slice(at + query.length)}</p></li>;
}
function Search() {
  const [typed, setTyped] = useState("");
  const query = typed.toLowerCase();
  const found = query ? texts.filter((text) => text.toLowerCase().includes(query)).slice(0, 4) : [];
  return <><input type="search" aria-label="Recherche" value={typed} onChange={(event) => setTyped(event.target.value)} />
    <section aria-labelledby="found-messages"><h2 id="found-messages">Messages</h2><ul>
    {found.map((text) => <Match key={text} text={text} query={query} />)}</ul></section></>;
}
createRoot(document.getElementById("root")).render(<Search />);
`;

/** Builds a page that React renders in the browser, like a starter kit: by default the same form. */
export async function buildBareReact(folder: string, code = bareLogin): Promise<void> {
  // The sources are inside the project so that their imports resolve to its React.
  const source = join(root, ".reports", "bare-react");
  mkdirSync(source, { recursive: true });
  const page = `<!doctype html><html lang="fr"><head>${head}<style>${style}</style></head><body><div id="root"></div><script type="module" src="./main.jsx"></script></body></html>`;
  writeFileSync(join(source, "index.html"), page);
  writeFileSync(join(source, "main.jsx"), code);
  await build({
    root: source,
    configFile: false,
    logLevel: "error",
    oxc: { jsx: { runtime: "automatic" } },
    build: { outDir: folder, emptyOutDir: true },
  });
}

type ServedPage = { origin: string; stop(): Promise<void> };
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
};

function startPageServer(answer: (path: string) => { type: string; body: string | Buffer }): Promise<ServedPage> {
  const server = createServer((request, response) => {
    const { type, body } = answer(request.url ?? "/");
    response.writeHead(200, { "content-type": type, "cache-control": "no-cache" }).end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, "localhost", () => {
      const stop = () =>
        new Promise<void>((stopped) => {
          server.closeAllConnections();
          server.close(() => stopped());
        });
      resolve({ origin: `http://localhost:${(server.address() as AddressInfo).port}`, stop });
    });
  });
}

export const servePage = (html: string): Promise<ServedPage> =>
  startPageServer((path) =>
    path === "/favicon.ico" ? { type: "image/x-icon", body: "" } : { type: types[".html"] as string, body: html },
  );

/** Floor for a picture: a page with no other content. */
export const servePicture = (type: string, body: Buffer): Promise<ServedPage> =>
  startPageServer((path) =>
    path === "/picture" ? { type, body } : { type: types[".html"] as string, body: pictureHtml },
  );

/** Serves a built folder; paths without a file extension return its page. */
export const serveFolder = (folder: string): Promise<ServedPage> =>
  startPageServer((path) => {
    if (path === "/favicon.ico") return { type: "image/x-icon", body: "" };
    const file = extname(path) === "" ? "/index.html" : path;
    return { type: types[extname(file)] ?? "application/octet-stream", body: readFileSync(join(folder, file)) };
  });
