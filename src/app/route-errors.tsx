import { Component, type ReactNode, startTransition, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { setPageTitle } from "#lib/browser/page/page-title.ts";
import { resetFailedScreens, ScreenUnavailable } from "./lazy-screen.tsx";

/** Unknown or forbidden route, with its HTTP status. */
export class RouteError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "RouteError";
  }
}

/** Error screen of SPEC.md §2: a localised heading with the HTTP status or the error message below it. */
function ErrorScreen({ error, onLeave }: { error: unknown; onLeave: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  useEffect(() => {
    setPageTitle(t("shell.error.title"));
  }, [t]);
  const isStatus = error instanceof RouteError;
  const detail = isStatus ? `${error.status} ${error.message}` : error instanceof Error ? error.message : String(error);
  return (
    <main className="flex min-h-0 flex-1 flex-col items-center justify-center gap-3 bg-bg p-6 text-center">
      <span className="i-ph-compass text-6xl text-accent" aria-hidden="true" />
      <h1 className="text-2xl font-bold text-balance">{t("shell.error.title")}</h1>
      <p className="max-w-full font-mono text-muted break-words">{detail}</p>
      <p className="max-w-96">{t(isStatus ? "shell.error.notFound" : "shell.error.crashed")}</p>
      <Button
        className="mt-3"
        onClick={() => {
          navigate("/app", { replace: true });
          startTransition(onLeave); // with the new path, as the router's update: the old one fails again
        }}
      >
        {t("shell.error.home")}
      </Button>
    </main>
  );
}

/** Screen shown while the code of the requested screen is missing on the device and cannot be fetched. */
function MissingScreen({ onRetry, onOnline }: { onRetry: () => void; onOnline: () => void }) {
  const { t } = useTranslation();
  useEffect(() => {
    addEventListener("online", onOnline);
    return () => removeEventListener("online", onOnline);
  }, [onOnline]);
  return (
    <main data-missing-screen className="flex min-h-0 flex-1 flex-col justify-center bg-bg">
      <EmptyState
        icon="i-ph-cloud-slash"
        title={t("shell.missing.title")}
        body={t("shell.missing.body")}
        action={<Button onClick={onRetry}>{t("common.retry")}</Button>}
      />
    </main>
  );
}

type RouteErrorBoundaryProps = {
  /** Current path: a change resets the failure. */
  path: string;
  children: ReactNode;
};
type RouteErrorBoundaryState = { failure: { error: unknown } | undefined; path: string; hasRetried: boolean };

/** Error boundary that limits a failure to one pane. */
export class RouteErrorBoundary extends Component<RouteErrorBoundaryProps, RouteErrorBoundaryState> {
  override state: RouteErrorBoundaryState = { failure: undefined, path: this.props.path, hasRetried: false };

  static getDerivedStateFromError(error: unknown): Partial<RouteErrorBoundaryState> {
    return { failure: { error } };
  }

  static getDerivedStateFromProps(
    props: RouteErrorBoundaryProps,
    state: RouteErrorBoundaryState,
  ): Partial<RouteErrorBoundaryState> | null {
    if (props.path === state.path) return null;
    resetFailedScreens();
    return { failure: undefined, path: props.path, hasRetried: false };
  }

  retry = (): void => {
    // A retry with a network failed as well: the release this page belongs to no longer exists on the server.
    if (this.state.hasRetried && navigator.onLine) {
      location.reload();
      return;
    }
    this.reset();
    this.setState({ hasRetried: true });
  };

  /** Also called automatically when the network returns. */
  reset = (): void => {
    resetFailedScreens();
    this.setState({ failure: undefined });
  };

  override render(): ReactNode {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    if (failure.error instanceof ScreenUnavailable) return <MissingScreen onRetry={this.retry} onOnline={this.reset} />;
    return <ErrorScreen error={failure.error} onLeave={() => this.setState({ failure: undefined })} />;
  }
}
