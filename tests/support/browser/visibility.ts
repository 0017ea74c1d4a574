import type { TestClient } from "./test-client.ts";

/** Makes a page behave as if the person had left it, or had come back. In headless Chromium every page is visible. */
export const setVisibility = ({ page }: TestClient, state: DocumentVisibilityState): Promise<void> =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
