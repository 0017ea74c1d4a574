/**
 * Input on a prerendered page before its script has loaded. `earlyInputScript` is inlined in the page: it prevents the
 * submission of a form, shows the button as busy and sets this attribute on the form or on the clicked button.
 */
const earlyAttribute = "data-early";
const hydratedAttribute = "data-taken";

/** Clears the mark of an early submission; true if there was one. */
export const consumeEarlySubmit = (form: HTMLFormElement): boolean => {
  const wasEarly = form.hasAttribute(earlyAttribute);
  form.removeAttribute(earlyAttribute);
  form.querySelector("[type=submit]")?.removeAttribute("aria-busy");
  return wasEarly;
};

/** Replays a click made before the script loaded; from now on clicks are handled directly. */
export const replayEarlyClick = (): void => {
  document.documentElement.setAttribute(hydratedAttribute, "");
  const button = document.querySelector<HTMLElement>(`button[${earlyAttribute}]`);
  button?.removeAttribute(earlyAttribute);
  button?.removeAttribute("aria-busy");
  button?.click();
};

/** Runs before the first paint: redirects a signed-in user to /app (SPEC.md §2). */
export const signedInRedirectScript = `try{JSON.parse(localStorage.session).userId&&location.replace("/app")}catch{};`;

/**
 * Runs before the first paint. Only the last of several early inputs is kept. After loading failed and its notice
 * (`#unloaded`) is visible, input is ignored. Marked as pure so that the text is in the pages only, not in the bundle.
 */
export const earlyInputScript = /* @__PURE__ */ [
  `{const wait=(e,b)=>{if(!document.getElementById("unloaded").hidden)return;`,
  `for(const x of document.querySelectorAll("[${earlyAttribute}]")){x.removeAttribute("${earlyAttribute}");`,
  `(x.querySelector("[type=submit]")||x).removeAttribute("aria-busy")}`,
  `e.setAttribute("${earlyAttribute}","");b.setAttribute("aria-busy","true")};`,
  `addEventListener("submit",e=>{`,
  `if(e.defaultPrevented)return;`,
  `e.preventDefault();wait(e.target,e.target.querySelector("[type=submit]"))`,
  `});addEventListener("click",e=>{`,
  `const b=e.target.closest("[type=button]");`,
  `if(b&&!document.documentElement.hasAttribute("${hydratedAttribute}"))wait(b,b)`,
  `})}`,
].join("");
