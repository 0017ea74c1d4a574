import { useNavigate } from "react-router";
import { IconLink } from "#components/controls/icon-link.tsx";

/** Index of the current history entry: react-router stores it in `history.state.idx`. */
const getHistoryIndex = (): number => {
  const state: unknown = window.history.state;
  const index = typeof state === "object" && state !== null && "idx" in state ? state.idx : 0;
  return typeof index === "number" ? index : 0;
};

const visitedPaths = new Map<number, string>();

/**
 * Records the path of the current history entry. The shell calls it on every navigation, so that the back link knows
 * the previous path.
 */
export const recordVisitedPath = (pathname: string): void => {
  visitedPaths.set(getHistoryIndex(), pathname);
};

/** `up` leads to the parent screen. `previous` leads to the screen the person came from; `to` is its fallback. */
export type BackMode = "up" | "previous";

/**
 * Back link. If the previous history entry is the target, it navigates back, so the history does not grow and the
 * screen is restored. Otherwise `to` replaces the current entry.
 */
export function BackLink({ to, mode, label }: { to: string; mode: BackMode; label: string }) {
  const navigate = useNavigate();
  return (
    <IconLink
      icon="i-ph-arrow-left-bold"
      label={label}
      to={to}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        const previousPath = visitedPaths.get(getHistoryIndex() - 1);
        if (previousPath === to || (mode === "previous" && previousPath !== undefined)) navigate(-1);
        else navigate(to, { replace: true });
      }}
    />
  );
}
