import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { prepareTitleFocus } from "#components/focus/title-focus.ts";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { changeSettings, useSettings } from "#sync/hooks/use-settings.ts";
import { TalaFeed } from "./tala-feed.tsx";

/** Shown while Tala is turned off in the settings; reachable by URL only. */
function TalaDisabled() {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const turnOn = async () => {
    const moveFocus = prepareTitleFocus();
    setBusy(true);
    const isOn = await runWithToast(() => changeSettings({ tala: true }), { failed: t("settings.failed") });
    setBusy(false);
    // The button disappears: focus the page title.
    if (isOn) moveFocus();
  };
  return (
    <div className="my-auto">
      <EmptyState
        icon="i-ph-eye-slash"
        title={t("tala.offTitle")}
        body={t("tala.offBody")}
        action={
          <Button busy={isBusy} onClick={() => void turnOn()}>
            {t("tala.turnOn")}
          </Button>
        }
      />
    </div>
  );
}

/** Tala: short public posts (SPEC.md §2 Tala). */
export default function TalaScreen() {
  const { t } = useTranslation();
  const { tala: isOn } = useSettings();
  return (
    <Screen title={t("tala.title")} subtitle={t("tala.subtitle")} description={t("tala.description")} scrolls={!isOn}>
      {isOn ? <TalaFeed /> : <TalaDisabled />}
    </Screen>
  );
}
