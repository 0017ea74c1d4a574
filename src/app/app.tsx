import { BrowserRouter, useLocation } from "react-router";
import "#first-view/first-view.css";
import "./shell.css";
import { Toaster } from "#components/overlays/toast.tsx";
import { getSession } from "#lib/session/session.ts";
import { startEngine } from "#sync/engine.ts";
import { RequireSession } from "./require-session.tsx";
import { RouteError } from "./route-error.ts";
import { RouteErrorBoundary } from "./route-errors.tsx";
import { findAppRoute } from "./routes.ts";
import Shell from "./shell.tsx";

/**
 * Starts loading the code of the screen at this path and opening the person's store, in parallel with the texts. Call
 * it before rendering.
 */
export const preloadApp = (pathname: string): void => {
  const session = getSession();
  if (!session) return;
  void findAppRoute(pathname)?.screen.preload();
  // In a task of its own, because the evaluation of the modules is long already. The rendered app reports failures.
  setTimeout(() => startEngine(session.userId).catch(() => undefined));
};

const isAppPath = (pathname: string): boolean => pathname === "/app" || pathname.startsWith("/app/");

/** Signed-in part of the product. The entry pages are separate documents without a router. */
function SignedInApp() {
  const { pathname } = useLocation();
  if (!isAppPath(pathname)) throw new RouteError(404, "Not Found");
  return (
    <RequireSession>
      <Shell />
    </RequireSession>
  );
}

function AppRoutes() {
  const { pathname } = useLocation();
  return (
    <div className="flex h-screen h-dvh flex-col overflow-hidden bg-bg text-text">
      <RouteErrorBoundary path={pathname}>
        <SignedInApp />
      </RouteErrorBoundary>
    </div>
  );
}

export function App() {
  return (
    <BrowserRouter>
      <AppRoutes />
      <Toaster />
    </BrowserRouter>
  );
}
