import { Activity, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Link, type Location, Route, Routes, useLocation } from "react-router";
import { recordVisitedPath } from "#components/layout/back-link.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { HeaderTrailingContext, IsPageContext, WindowPathContext } from "#components/layout/screen.tsx";
import { PageNotices } from "#components/overlays/toast-stack.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { waitForTakeover } from "#lib/browser/first-view.ts";
import { useOwnProfile } from "#sync/hooks/use-people.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { LazyScreenView } from "./lazy-screen.tsx";
import { hasTabBar, hasTwoPanes, twoPanesQuery } from "./paths.ts";
import { RouteError, RouteErrorBoundary } from "./route-errors.tsx";
import { type AppRoute, appRoutes, findAppRoute, resolvePane } from "./routes.ts";
import { TabBar } from "./tab-bar.tsx";

const conversationsPath = "/app";

/** Loaded beside the connection, which brings calls and messages. */
const PageHosts = lazyComponent(async () => {
  await waitForTakeover();
  return import("./page-hosts.tsx");
});

const subscribeToWidth = (listener: () => void): (() => void) => {
  const media = matchMedia(twoPanesQuery);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
};

const useHasTwoPanes = (): boolean => useSyncExternalStore(subscribeToWidth, hasTwoPanes);

function ProfileLink() {
  const { t } = useTranslation();
  const me = useOwnProfile();
  return (
    <Link
      to="/app/profile"
      aria-label={t("shell.myProfile")}
      title={t("shell.myProfile")}
      className="grid size-12 shrink-0 place-items-center rounded-full"
    >
      {me ? <Avatar person={me} size={40} /> : <span className="size-10 rounded-full bg-raised" />}
    </Link>
  );
}

/** One pane: the screen of a path, its loading state and its errors. A new path mounts a new screen. */
function Pane({ pane, location, isPage }: { pane: "list" | "detail"; location: Location | string; isPage: boolean }) {
  const isWide = useHasTwoPanes();
  const place = typeof location === "string" ? location : location.pathname;
  return (
    <IsPageContext value={isPage}>
      <RouteErrorBoundary path={place}>
        <Suspense key={place} fallback={<PaneSpinner />}>
          <Routes location={location}>
            {appRoutes
              .filter((route) => resolvePane(route, isWide) === pane)
              .map(({ path, screen }) => (
                <Route key={path} path={path} element={<LazyScreenView screen={screen} />} />
              ))}
          </Routes>
        </Suspense>
      </RouteErrorBoundary>
    </IsPageContext>
  );
}

/** Whether the pane on the left lists conversations or people to open. */
const hasListBeside = (pathname: string): boolean => pathname === conversationsPath || pathname === "/app/contacts";

function EmptyDetailPane({ pathname }: { pathname: string }) {
  const { t } = useTranslation();
  const body = t(hasListBeside(pathname) ? "shell.nothingOpen.body" : "shell.nothingOpen.bodyElsewhere");
  return (
    <section aria-label={t("shell.nothingOpen.title")} className="grid flex-1 place-items-center bg-bg">
      <EmptyState icon="i-ph-chats-circle" title={t("shell.nothingOpen.title")} body={body} />
    </section>
  );
}

function Panes({ location, route }: { location: Location; route: AppRoute }): ReactNode {
  const isWide = useHasTwoPanes();
  const isListPage = resolvePane(route, isWide) === "list";
  const isFeed = route.pane === "feed";
  // A pane that was never visible is not mounted: it has no state to keep.
  const [wasListSeen, setListSeen] = useState(isListPage || isWide);
  if ((isListPage || isWide) && !wasListSeen) setListSeen(true);
  // The conversation list stays beside a detail screen; on a phone it stays mounted but invisible, with its state.
  const listLocation = isListPage ? location : conversationsPath;
  return (
    <div className="flex min-h-0 flex-1">
      {wasListSeen && (
        <Activity mode={isListPage || isWide ? "visible" : "hidden"}>
          <div className="flex min-h-0 w-full shrink-0 flex-col border-line lg:w-[400px] lg:border-r">
            <Pane pane="list" location={listLocation} isPage={isListPage} />
            {isWide && <TabBar pathname={hasTabBar(location.pathname) ? location.pathname : conversationsPath} />}
          </div>
        </Activity>
      )}
      {!isListPage && (
        <div
          className={`flex min-h-0 min-w-0 flex-1 flex-col ${isFeed ? "mx-auto max-w-[44rem] border-line xl:border-x" : ""}`}
        >
          <Pane pane="detail" location={location} isPage />
        </div>
      )}
      {isListPage && isWide && <EmptyDetailPane pathname={location.pathname} />}
    </div>
  );
}

/** Signed-in app: panes, tab bar and connection banner. */
export default function Shell() {
  const location = useLocation();
  const isWide = useHasTwoPanes();
  const { pathname } = location;
  useEffect(() => recordVisitedPath(pathname), [pathname]);
  const route = findAppRoute(pathname);
  if (!route) throw new RouteError(404, "Not Found");
  const isListShown = pathname === conversationsPath || (isWide && resolvePane(route, isWide) === "detail");
  return (
    <WindowPathContext value={pathname}>
      <HeaderTrailingContext value={<ProfileLink />}>
        <PageNotices
          strips={
            <>
              <ConnectionBanner />
              <PageHosts pathname={pathname} isListShown={isListShown} />
            </>
          }
        >
          <Panes location={location} route={route} />
        </PageNotices>
        {!isWide && hasTabBar(pathname) && <TabBar pathname={pathname} />}
      </HeaderTrailingContext>
    </WindowPathContext>
  );
}
