import { type ComponentType, useEffect } from "react";
import { I18nextProvider } from "react-i18next";
import { Toaster } from "./components/overlays/toast.tsx";
import { replayEarlyClick } from "./features/auth/form/early-input.ts";
import { i18n } from "./i18n/setup.ts";

/** Screens for visitors; each is a prerendered document (docs/decisions/entry-pages.md). */
export const entryPaths = { welcome: "/", register: "/register", login: "/login", recover: "/recover" } as const;
export type EntryPageName = keyof typeof entryPaths;

export const entryScreenLoaders: Record<EntryPageName, () => Promise<{ default: ComponentType }>> = {
  welcome: () => import("./features/auth/screens/welcome-screen.tsx"),
  register: () => import("./features/auth/screens/register-screen.tsx"),
  login: () => import("./features/auth/screens/login-screen.tsx"),
  recover: () => import("./features/auth/screens/recover-screen.tsx"),
};

/** Content of `#root`, identical when prerendered and when hydrated. */
export function EntryRoot({ Screen }: { Screen: ComponentType }) {
  useEffect(replayEarlyClick, []);
  return (
    <I18nextProvider i18n={i18n}>
      <Screen />
      <Toaster />
    </I18nextProvider>
  );
}
