import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { SettingsCard, SettingsPage } from "#components/layout/settings-page.tsx";
import { installPrompt } from "#lib/browser/install-prompt.ts";
import { runInstallPrompt } from "./run-install-prompt.ts";

const isInstalled = (): boolean => matchMedia("(display-mode: standalone)").matches;

/** Installing the app: the browser's dialog where there is one, else the steps for iPhones and other browsers. */
export default function InstallScreen() {
  const { t } = useTranslation();
  const prompt = useSyncExternalStore(installPrompt.subscribe, installPrompt.get);
  const renderContent = () => {
    if (isInstalled()) return <p className="px-4 py-3">{t("install.installed")}</p>;
    if (prompt === "home-screen") {
      return (
        <ol className="list-decimal py-3 pr-4 pl-9 leading-relaxed">
          <li>{t("install.iosShare")}</li>
          <li>{t("install.iosAdd")}</li>
          <li>{t("install.iosOpen")}</li>
        </ol>
      );
    }
    if (!prompt) return <p className="px-4 py-3">{t("install.menu")}</p>;
    return (
      <div className="flex flex-col px-4 py-3">
        <Button onClick={() => void runInstallPrompt(prompt).catch(() => undefined)}>{t("install.install")}</Button>
      </div>
    );
  };
  return (
    <SettingsPage title={t("install.title")} description={t("install.description")}>
      <p className="px-4">{t("install.askBody")}</p>
      <SettingsCard title={t("install.title")} icon="i-ph-device-mobile">
        {renderContent}
      </SettingsCard>
    </SettingsPage>
  );
}
