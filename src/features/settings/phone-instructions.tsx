import { useTranslation } from "react-i18next";
import { SettingsCard } from "#components/layout/settings-page.tsx";

// Menus of these makers in 2025 and 2026; the texts name the words that their French, English and Portuguese systems
// use.
const makers = [
  { name: "Tecno, Infinix, itel (HiOS, XOS)", steps: "settings.phones.transsion" },
  { name: "Samsung", steps: "settings.phones.samsung" },
  { name: "Xiaomi, Redmi, POCO", steps: "settings.phones.xiaomi" },
  { name: undefined, steps: "settings.phones.other" },
] as const;

/** Instructions for phones whose system stops the browser, by maker: what to change so that notifications arrive. */
export function PhoneInstructions() {
  const { t } = useTranslation();
  return (
    <SettingsCard title={t("settings.phones.title")} icon="i-ph-battery-warning">
      {() => (
        <>
          <p className="px-4 py-3 text-sm text-muted">{t("settings.phones.body")}</p>
          {makers.map(({ name, steps }) => (
            <details key={steps} className="group">
              <summary className="flex min-h-12 cursor-pointer items-center gap-2 px-4 py-2 -outline-offset-3 hover:bg-raised">
                <span className="flex-1">{name ?? t("settings.phones.otherName")}</span>
                <span className="i-ph-caret-down text-muted group-open:rotate-180" aria-hidden="true" />
              </summary>
              <p className="px-4 pb-3 text-sm leading-relaxed whitespace-pre-line">{t(steps)}</p>
            </details>
          ))}
        </>
      )}
    </SettingsCard>
  );
}
