import { PaneSpinner } from "#components/layout/pane-spinner.tsx";

/**
 * The frame of the app while it opens: the very thing index.html draws (and styles) before any script is here,
 * so that nothing moves when React takes its place.
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
