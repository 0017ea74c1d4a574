import { PaneSpinner } from "#components/layout/pane-spinner.tsx";

/**
 * Skeleton of the app while it opens. It is identical to the one that index.html draws and styles before any script
 * runs, so nothing moves when React replaces it.
 */
export function LoadingShell() {
  return (
    <div id="shell">
      <div className="head" aria-hidden="true">
        <i />
      </div>
      <PaneSpinner />
      <div className="bar" aria-hidden="true">
        <i />
        <i />
        <i />
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}
