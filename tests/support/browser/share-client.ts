import type { BrowserContext, Page } from "@playwright/test";

type SharedContent = { title?: string; text?: string; url?: string; files?: readonly SharedTestFile[] };
type SharedTestFile = { name: string; type: string; bytes: readonly number[] | { length: number } };

/** Makes the pages believe that they are in the window of the installed app, the only one that the system shares to. */
export const emulateAppWindow = (context: BrowserContext | Page): Promise<unknown> =>
  context.addInitScript(() => {
    const matchMedia = window.matchMedia.bind(window);
    window.matchMedia = (query) => matchMedia(query === "(display-mode: browser)" ? "not all" : query);
  });

/** Opens a page of this origin without scripts of the app, from which a share is submitted. */
export const openSharingPage = (page: Page, origin: string) => page.goto(`${origin}/robots.txt`);

/**
 * Submits the form that a browser makes of content shared by another app. The page then is where the share leads.
 * `origin`: of the app, if the page is of another site.
 */
export const submitShare = async (page: Page, content: SharedContent, origin = ""): Promise<void> => {
  const navigated = page.waitForURL(/\/(app|login)/);
  await page.evaluate(
    ({ title, text, url, files = [], origin }) => {
      const form = document.createElement("form");
      form.method = "POST";
      form.action = `${origin}/app/share`;
      form.enctype = "multipart/form-data";
      for (const [name, value] of Object.entries({ title, text, url })) {
        if (value === undefined) continue;
        const field = document.createElement("textarea");
        field.name = name;
        field.value = value;
        form.append(field);
      }
      const transfer = new DataTransfer();
      for (const { name, type, bytes } of files) {
        const content = Array.isArray(bytes) ? new Uint8Array(bytes) : new Uint8Array(bytes.length);
        transfer.items.add(new File([content], name, { type }));
      }
      const input = document.createElement("input");
      input.type = "file";
      input.name = "files";
      input.multiple = true;
      input.files = transfer.files;
      form.append(input);
      document.body.append(form);
      form.submit();
    },
    { ...content, origin },
  );
  await navigated;
};

export const shareToApp = async (page: Page, origin: string, content: SharedContent): Promise<void> => {
  await openSharingPage(page, origin);
  await submitShare(page, content);
};
