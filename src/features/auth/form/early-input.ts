/**
 * What was done on a prerendered page before its script arrived. `earlyScript` stands inside the page: it holds a form's
 * submission back, shows the button at work and leaves a mark on the form, or on the button that was pressed, found here.
 */
const earlyAttribute = "data-early";
const hydratedAttribute = "data-taken";

export const consumeEarlySubmit = (form: HTMLFormElement): boolean => {
  const wasEarly = form.hasAttribute(earlyAttribute);
  form.removeAttribute(earlyAttribute);
  form.querySelector("[type=submit]")?.removeAttribute("aria-busy");
  return wasEarly;
};

/** The page has its script: a button that was pressed is pressed now, and from now on each is heard at once. */
export const replayEarlyClick = (): void => {
  document.documentElement.setAttribute(hydratedAttribute, "");
  const button = document.querySelector<HTMLElement>(`button[${earlyAttribute}]`);
  button?.removeAttribute(earlyAttribute);
  button?.removeAttribute("aria-busy");
  button?.click();
};

/** Runs before the first paint: somebody who is signed in has no use for the page (SPEC.md §2: they land on /app). */
export const signedInRedirectScript = `try{JSON.parse(localStorage.session).userId&&location.replace("/app")}catch{};`;

/**
 * Runs before the first paint. Of several things done the last one counts. What is sent or pressed after loading was given
 * up waits for nothing: the notice of it stands. Marked as pure, so that it stands in the pages alone and not in the forms' own script.
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
