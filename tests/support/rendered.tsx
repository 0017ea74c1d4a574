import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { I18nextProvider } from "react-i18next";
import { i18n } from "#i18n/setup.ts";

/** Markup of a component in the current language, inside the text provider of the app's roots. */
export const renderMarkup = (node: ReactNode): string =>
  renderToStaticMarkup(<I18nextProvider i18n={i18n}>{node}</I18nextProvider>);
