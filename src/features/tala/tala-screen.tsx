import { useState } from "react";
import { useTranslation } from "react-i18next";
import { attempt } from "../../components/attempt";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty-state";
import { focusTitleFrom } from "../../components/focus-title";
import { Screen } from "../../components/screen";
import { changeSettings, useSettings } from "../../sync/use-settings";
import { Tala } from "./tala";

/** Whoever turned Tala off comes here only by its address. */
function TalaOff() {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const turnOn = async () => {
    const leadFocus = focusTitleFrom();
    setBusy(true);
    const isOn = await attempt(() => changeSettings({ tala: true }), { failed: t("tala.turnOnFailed") });
    setBusy(false);
    // The button goes with what it said.
    if (isOn) leadFocus();
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

/** Short public statuses (SPEC.md §2 Tala). */
export default function TalaScreen() {
  const { t } = useTranslation();
  const { tala: isOn } = useSettings();
  return (
    <Screen title={t("tala.title")} subtitle={t("tala.subtitle")} description={t("tala.description")} scrolls={!isOn}>
      {isOn ? <Tala /> : <TalaOff />}
    </Screen>
  );
}
