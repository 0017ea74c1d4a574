import { type ReactNode, Suspense, useEffect } from "react";
import { BrowserRouter, Route, Routes, useLocation } from "react-router";
import "./shell.css";
import { showToast, Toaster } from "../components/toast";
import { takeNotice } from "../lib/notice";
import { getSession } from "../lib/session";
import { Failures } from "./failures";
import { SignedInOnly } from "./guard";
import { Lazy, lazyScreen } from "./lazy-screen";
import { Waiting } from "./pane-spinner";
import { RouteError } from "./route-error";
import { findAppRoute } from "./routes";

const shell = lazyScreen(() => import("./shell"));

/** Fetches what this address needs side by side instead of one after the other. Call it before rendering. */
export const preloadApp = (pathname: string): void => {
  if (!getSession()) return;
  void shell.preload();
  void findAppRoute(pathname)?.screen.preload();
};

function NotFound(): ReactNode {
  throw new RouteError(404, "Not Found");
}

/** The signed-in part of the product. The entry pages are documents of their own, without a router. */
function AppRoutes() {
  const { pathname } = useLocation();
  return (
    <Failures place={pathname}>
      <Suspense fallback={<Waiting />}>
        <Routes>
          <Route
            path="/app/*"
            element={
              <SignedInOnly>
                <Lazy screen={shell} />
              </SignedInOnly>
            }
          />
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Suspense>
    </Failures>
  );
}

export function App() {
  useEffect(() => {
    const notice = takeNotice();
    if (notice)
      showToast(
        notice.title === undefined ? { message: notice.message } : { title: notice.title, message: notice.message },
      );
  }, []);
  return (
    <BrowserRouter>
      <AppRoutes />
      <Toaster />
    </BrowserRouter>
  );
}
