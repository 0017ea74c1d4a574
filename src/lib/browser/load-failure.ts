/** Shows the load-error notice that every document contains (index.html, `src/prerender`). */
export const showLoadFailure = (): void => {
  const notice = document.getElementById("unloaded");
  if (notice) notice.hidden = false;
  // A form submitted before the script loaded would stay busy forever.
  for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
};
