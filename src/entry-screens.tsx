import type { ComponentType } from "react";
import { Toaster } from "./components/toast";

/** The screens a visitor meets first: each a document of its own, prerendered (DESIGN.md §7). */
export const entryPaths = { welcome: "/", register: "/register", login: "/login", recover: "/recover" } as const;
export type EntryName = keyof typeof entryPaths;

export const loadEntryScreen: Record<EntryName, () => Promise<{ default: ComponentType }>> = {
  welcome: () => import("./features/auth/welcome-screen"),
  register: () => import("./features/auth/register-screen"),
  login: () => import("./features/auth/login-screen"),
  recover: () => import("./features/auth/recover-screen"),
};

/** What stands in `#root`, the same when it is prerendered and when the script takes over. */
export function Entry({ Screen }: { Screen: ComponentType }) {
  return (
    <>
      <Screen />
      <Toaster />
    </>
  );
}
