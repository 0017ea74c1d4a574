import { useT } from "../../i18n/setup";

/** What stands above the oldest message. Its height never changes, so nothing below it moves. */
export function ListTop(props: { hasOlder: boolean; isLoading: boolean; isStuck: boolean; height: number }) {
  const t = useT();
  const { hasOlder, isLoading, isStuck, height } = props;
  return (
    <p
      className="absolute inset-x-0 top-0 flex items-center justify-center gap-2 px-4 text-center text-xs text-muted"
      style={{ height }}
    >
      {!hasOlder && t("chat.start")}
      {hasOlder && isStuck && t("chat.olderOffline")}
      {hasOlder && !isStuck && isLoading && (
        <>
          <span className="i-ph-circle-notch animate-spin text-base" aria-hidden="true" />
          {t("chat.loadingOlder")}
        </>
      )}
    </p>
  );
}
