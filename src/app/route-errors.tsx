import { Component, type ReactNode, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { forgetFailedScreens, ScreenUnavailable } from "./lazy-screen.tsx";
import { RouteError } from "./route-error.ts";

/** SPEC.md §2: this heading, in the person's language, with the status or the message below it. */
function ErrorScreen({ error, onLeave }: { error: unknown; onLeave: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  useEffect(() => {
    document.title = `${t("shell.error.title")} · Lisolo`;
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
          onLeave();
        }}
      >
        {t("shell.error.home")}
      </Button>
    </main>
  );
}

/** The code of a screen is not on this phone and could not be fetched. */
function MissingScreen({ onRetry, onOnline }: { onRetry: () => void; onOnline: () => void }) {
  const { t } = useTranslation();
  useEffect(() => {
    addEventListener("online", onOnline);
    return () => removeEventListener("online", onOnline);
  }, [onOnline]);
  return (
    <main className="flex min-h-0 flex-1 flex-col justify-center bg-bg">
      <EmptyState
        icon="i-ph-cloud-slash"
        title={t("shell.missing.title")}
        body={t("shell.missing.body")}
        action={<Button onClick={onRetry}>{t("common.retry")}</Button>}
      />
    </main>
  );
}

type Props = {
  /** Where we are: a failure is forgotten when this changes. */
  place: string;
  children: ReactNode;
};
type State = { failure: { error: unknown } | undefined; place: string; retried: boolean };

/** Keeps a failure to the part of the window it happened in. */
export class Failures extends Component<Props, State> {
  override state: State = { failure: undefined, place: this.props.place, retried: false };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failure: { error } };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    if (props.place === state.place) return null;
    forgetFailedScreens();
    return { failure: undefined, place: props.place, retried: false };
  }

  retry = (): void => {
    // Asked again with a network and still refused: the release this page belongs to is gone.
    if (this.state.retried && navigator.onLine) {
      location.reload();
      return;
    }
    this.askAgain();
    this.setState({ retried: true });
  };

  /** Also by itself, when the network is back. */
  askAgain = (): void => {
    forgetFailedScreens();
    this.setState({ failure: undefined });
  };

  override render(): ReactNode {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    if (failure.error instanceof ScreenUnavailable)
      return <MissingScreen onRetry={this.retry} onOnline={this.askAgain} />;
    return <ErrorScreen error={failure.error} onLeave={() => this.setState({ failure: undefined })} />;
  }
}
