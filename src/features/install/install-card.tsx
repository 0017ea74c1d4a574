import { useId } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { PageNotice } from "#components/overlays/toast-stack.tsx";
import type { InstallPromptEvent } from "#lib/browser/install-prompt.ts";
import { saveInstallAnswer } from "./install-history.ts";
import { runInstallPrompt } from "./run-install-prompt.ts";

/** Question over the page whether to install the app. It takes no focus and stays until it is answered. */
export function InstallCard({ prompt, onClose }: { prompt: InstallPromptEvent | "home-screen"; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const id = useId();
  const close = () => {
    saveInstallAnswer(Date.now());
    onClose();
  };
  const install = () => {
    if (prompt === "home-screen") {
      close();
      void navigate("/app/install");
      return;
    }
    onClose();
    void runInstallPrompt(prompt).catch((error: unknown) => console.warn("install prompt", error));
  };
  return (
    <PageNotice>
      <section
        aria-labelledby={id}
        className="rise pointer-events-auto mb-2 w-full max-w-104 rounded-card border border-line bg-surface p-4 text-text shadow-lg"
        onKeyDown={({ key }) => key === "Escape" && close()}
      >
        <div role="status">
          <h2 id={id} className="font-semibold leading-snug">
            {t("install.ask")}
          </h2>
          <p className="spare mt-1 text-sm text-muted">{t("install.askBody")}</p>
        </div>
        <div className="mt-3 flex flex-wrap justify-end gap-2">
          <Button variant="quiet" onClick={close}>
            {t("push.later")}
          </Button>
          <Button onClick={install}>{t(prompt === "home-screen" ? "install.how" : "install.install")}</Button>
        </div>
      </section>
    </PageNotice>
  );
}
