import { BrowserRouter, useLocation } from "react-router";
import "./shell.css";
import { Toaster } from "../components/toast";
import { getSession } from "../lib/session";
import { Failures } from "./failures";
import { SignedInOnly } from "./guard";
import { RouteError } from "./route-error";
import { findAppRoute } from "./routes";
import Shell from "./shell";

/** Fetches what this address needs beyond the app itself beside the language. Call it before rendering. */
export const preloadApp = (pathname: string): void => {
  if (!getSession()) return;
  void findAppRoute(pathname)?.screen.preload();
};

const isApp = (pathname: string): boolean => pathname === "/app" || pathname.startsWith("/app/");

/** The signed-in part of the product. The entry pages are documents of their own, without a router. */
function SignedInPart() {
  const { pathname } = useLocation();
  if (!isApp(pathname)) throw new RouteError(404, "Not Found");
  return (
    <SignedInOnly>
      <Shell />
    </SignedInOnly>
  );
}

function AppRoutes() {
  const { pathname } = useLocation();
  return (
    <div className="flex h-screen h-dvh flex-col overflow-hidden bg-bg text-text">
      <Failures place={pathname}>
        <SignedInPart />
      </Failures>
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
