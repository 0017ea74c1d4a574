import { cleanText } from "#contract/text.ts";

/** Content that other apps share with this one (Web Share Target API). */

/** Path that the browser sends shared content to, as a form. */
export const shareTargetPath = "/app/share";
export const toSharePath = (share: string): string => `${shareTargetPath}/${share}`;

/** In the place of a share's id: what was shared could not be received, or it had no content. */
export const failedShares = { missed: "missed", noRoom: "no-room", empty: "empty" } as const;

/** Maximum number of files in one share. */
export const sharedFilesMax = 30;

/** Field names of the form, as the manifest declares them. */
export const shareFields = { title: "title", text: "text", url: "url", files: "files" } as const;

/**
 * One text from the three of a share, complete even if it is too long for a message. Most apps put the address into the
 * text, and some repeat the title there.
 */
export const joinSharedTexts = (title: string, text: string, url: string): string =>
  [title, text, url]
    .map(cleanText)
    .reduce<string[]>((lines, line) => {
      if (line === "" || lines.some((earlier) => earlier.includes(line))) return lines;
      return [...lines.filter((earlier) => !line.includes(earlier)), line];
    }, [])
    .join("\n");
