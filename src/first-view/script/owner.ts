/** Person who is signed in on this device. */
const readSignedIn = (): unknown => {
  try {
    return JSON.parse(localStorage["session"]).userId;
  } catch {
    return undefined;
  }
};

/** Removes a view whose person is not signed in, now and when the session ends. Returns whether the view is kept. */
export const keepForOwner = (view: HTMLElement): boolean => {
  const removeUnlessSignedIn = () => {
    if (readSignedIn() === view.dataset["user"] || !view.isConnected) return;
    view.remove();
    document.getElementById("first-data")?.remove();
    document.getElementById("root")?.removeAttribute("inert");
  };
  removeUnlessSignedIn();
  if (!view.isConnected) return false;
  // The session may end in another tab, or while the browser keeps this page for the back button.
  addEventListener("storage", removeUnlessSignedIn);
  addEventListener("pageshow", removeUnlessSignedIn);
  return true;
};
