import type { Language } from "#contract/language.ts";
import { shareFields, shareTargetPath } from "#contract/wire/share-target.ts";
import type { Translate } from "#i18n/setup.ts";

const productName = "Lisolo";
const startPath = "/app";
const groundColour = "#fbf7f4"; // as in src/app/theme.css
const shortcutIcon = { src: "/icon-192.png", sizes: "192x192", type: "image/png" };

/** Pictures of `scripts/local/take-screenshots.mjs`. */
const createScreenshots = (t: Translate) => [
  {
    src: "/screenshot-list.webp",
    sizes: "360x740",
    type: "image/webp",
    form_factor: "narrow",
    label: t("manifest.listScreenshot"),
  },
  {
    src: "/screenshot-chat.webp",
    sizes: "360x740",
    type: "image/webp",
    form_factor: "narrow",
    label: t("manifest.chatScreenshot"),
  },
  {
    src: "/screenshot-wide.webp",
    sizes: "1280x800",
    type: "image/webp",
    form_factor: "wide",
    label: t("manifest.wideScreenshot"),
  },
];

/** Web app manifest in one language (docs/decisions/installed-app.md). All languages have the same `id`. */
export const createWebManifest = (language: Language, t: Translate) => ({
  id: startPath,
  name: productName,
  short_name: productName,
  description: t("auth.welcomeDescription"),
  lang: language,
  dir: "ltr",
  start_url: startPath,
  scope: "/",
  display: "standalone",
  orientation: "any",
  background_color: groundColour,
  theme_color: groundColour,
  categories: ["social", "communication"],
  icons: [
    { src: "/favicon.svg", sizes: "any", type: "image/svg+xml" },
    { src: "/icon-192.png", sizes: "192x192", type: "image/png" },
    { src: "/icon-512.png", sizes: "512x512", type: "image/png" },
    { src: "/icon-512-maskable.png", sizes: "512x512", type: "image/png", purpose: "maskable" },
  ],
  screenshots: createScreenshots(t),
  shortcuts: [
    { name: t("masolo.newChat"), url: "/app?new", icons: [shortcutIcon] },
    { name: t("shell.tabs.senga"), description: t("senga.description"), url: "/app/senga", icons: [shortcutIcon] },
  ],
  share_target: {
    action: shareTargetPath,
    method: "POST",
    enctype: "multipart/form-data",
    params: {
      title: shareFields.title,
      text: shareFields.text,
      url: shareFields.url,
      files: [{ name: shareFields.files, accept: ["image/*", "*/*"] }],
    },
  },
  launch_handler: { client_mode: "navigate-existing" },
});
