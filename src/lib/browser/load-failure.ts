/** A part of the page could not be fetched: shows the notice every document carries for that (index.html, `src/prerender`). */
export const showLoadFailure = (): void => {
  const notice = document.getElementById("unloaded");
  if (notice) notice.hidden = false;
  // A form that was sent early waits for nothing any more.
  for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
};
