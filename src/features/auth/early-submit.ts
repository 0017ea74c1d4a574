/**
 * A form that was sent, or a provider that was chosen, before its script arrived. `earlyScript` stands inside the prerendered
 * page: it holds the submission back, shows the button at work and leaves a mark on the form or the choice, found here.
 */
const mark = "data-early";

export const takeEarlySubmit = (form: HTMLFormElement): boolean => {
  const wasEarly = form.hasAttribute(mark);
  form.removeAttribute(mark);
  form.querySelector("[type=submit]")?.removeAttribute("aria-busy");
  return wasEarly;
};

/** The provider that was chosen, if one was: the last. */
export const takeEarlyChoice = (list: HTMLElement): string | undefined => {
  const early = [...list.querySelectorAll<HTMLElement>(`[${mark}]`)];
  for (const choice of early) {
    choice.removeAttribute(mark);
    choice.firstElementChild?.removeAttribute("aria-busy");
  }
  return early.at(-1)?.dataset["provider"];
};

/** Runs before the first paint: somebody who is signed in has no use for the page (SPEC.md §2: they land on /app). */
export const leaveScript = `try{JSON.parse(localStorage.session).userId&&location.replace("/app")}catch{};`;

/**
 * Runs before the first paint. A submission after loading was given up waits for nothing: the notice of it stands. Marked
 * as pure, so that it stands in the pages alone and not in the forms' own script.
 */
export const earlyScript = /* @__PURE__ */ [
  `addEventListener("submit",e=>{`,
  `if(e.defaultPrevented)return;`,
  `e.preventDefault();if(!document.getElementById("unloaded").hidden)return;`,
  `e.target.setAttribute("${mark}","");`,
  `e.target.querySelector("[type=submit]").setAttribute("aria-busy","true")`,
  `});addEventListener("click",e=>{`,
  `const c=e.target.closest("[data-provider]");if(!c||e.defaultPrevented)return;`,
  `c.setAttribute("${mark}","");c.firstElementChild.setAttribute("aria-busy","true")`,
  `})`,
].join("");
