import { useEffect, useEffectEvent } from "react";
import { BrowserRouter, useLocation, useNavigate } from "react-router";
import { Toaster } from "#components/overlays/toast.tsx";
import { findFirstView } from "#lib/browser/first-view.ts";
import { loadWithRetry } from "#lib/browser/load-failure.ts";
import { followVisibleHeight } from "#lib/browser/page/visible-height.ts";
import { getSession } from "#lib/session/session.ts";
import { RequireSession } from "./require-session.tsx";
import { RouteError, RouteErrorBoundary } from "./route-errors.tsx";
import { findAppRoute } from "./routes.ts";
import Shell from "./shell.tsx";

/**
 * Loads the code of the screen at this path, in parallel with the texts. Never rejects. A first view is of more use than
 * a screen whose code is missing: it stays until the code is there.
 */
export const preloadScreen = async (pathname: string): Promise<void> => {
  const screen = getSession() ? findAppRoute(pathname)?.screen : undefined;
  await (screen && findFirstView() ? loadWithRetry(screen.load) : screen?.preload());
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
  useEffect(followVisibleHeight, []);
  return (
    <div className="flex h-screen h-dvh max-h-[var(--visible-height)] flex-col overflow-hidden bg-bg text-text">
      <RouteErrorBoundary path={pathname}>
        <SignedInApp />
      </RouteErrorBoundary>
    </div>
  );
}

/**
 * The router reads the address when its first render begins, and follows it after the commit. This component makes up
 * for a navigation in between.
 */
function FirstNavigation() {
  const shown = useLocation();
  const navigate = useNavigate();
  const followAddress = useEffectEvent(() => {
    const { pathname, search, hash } = location;
    if (shown.pathname + shown.search + shown.hash === pathname + search + hash) return;
    void navigate(pathname + search + hash, { replace: true, state: history.state?.usr });
  });
  useEffect(() => followAddress(), []); // by now the router follows the address
  return null;
}

export function App() {
  return (
    <BrowserRouter>
      <FirstNavigation />
      <AppRoutes />
      <Toaster />
    </BrowserRouter>
  );
}
