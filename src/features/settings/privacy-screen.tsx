import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { SettingsCard, SettingsPage } from "#components/layout/settings-page.tsx";
import type { Settings } from "#contract/settings/settings.ts";
import { useBlockedPeople } from "#sync/hooks/use-people.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { AllowanceCard } from "./allowance-card.tsx";
import { ExceptionsRow } from "./exceptions-row.tsx";
import { FindableByField, PictureToField, StatusesToField, toContactAudience } from "./privacy-fields.tsx";
import { useUpdateSettings } from "./use-update-settings.ts";

const privacySwitches = [
  { name: "receipts", label: "settings.privacy.receipts", body: "settings.privacy.receiptsBody" },
  { name: "presence", label: "settings.privacy.presence", body: "settings.privacy.presenceBody" },
  { name: "hidesAddress", label: "settings.privacy.hidesAddress", body: "settings.privacy.hidesAddressBody" },
] as const;
const visibilityFacts = [
  { fact: "content", icon: "i-ph-chat-text" },
  { fact: "profile", icon: "i-ph-identification-card" },
  { fact: "number", icon: "i-ph-phone" },
  { fact: "posts", icon: "i-ph-eye" },
  { fact: "typing", icon: "i-ph-keyboard" },
  { fact: "calls", icon: "i-ph-globe" },
  { fact: "blocked", icon: "i-ph-prohibit" },
] as const;

/** Text of a fact, which depends on the settings. */
const toShownFact = (fact: (typeof visibilityFacts)[number]["fact"], settings: Settings) => {
  if (fact === "profile" && settings.pictureTo !== "everyone") return "profileRestricted";
  if (fact === "posts" && settings.statusesTo !== "everyone") return "postsRestricted";
  if (fact !== "number") return fact;
  if (settings.phoneTo === "nobody") return "numberHidden";
  return settings.phoneInGroups ? "numberShown" : fact;
};

type ContactSwitchProps = { name: "phoneTo" | "callsFrom" | "groupAdds"; label: string; body: string };

/** Switch of a setting that is for contacts or for nobody, and the contacts excepted from it. */
function ContactSwitch({ name, label, body }: ContactSwitchProps) {
  const settings = useSettings();
  const updateSettings = useUpdateSettings();
  const isOn = settings[name] !== "nobody";
  return (
    <div>
      <SwitchRow
        label={label}
        description={body}
        isOn={isOn}
        onChange={(isOn) => updateSettings({ [name]: isOn ? toContactAudience(settings, name) : "nobody" })}
      />
      {isOn && <ExceptionsRow name={name} label={label} />}
    </div>
  );
}

function BlockedLink() {
  const { t } = useTranslation();
  const count = useBlockedPeople()?.length ?? 0;
  return (
    <Link to="/app/blocked" className="flex min-h-14 items-center gap-3 px-4 -outline-offset-3 hover:bg-raised">
      <span className="flex-1 font-medium">{t("blocked.title")}</span>
      {count > 0 && <span className="text-muted tabular-nums">{count}</span>}
      <span className="i-ph-caret-right text-muted" aria-hidden="true" />
    </Link>
  );
}

/** Privacy settings, each enforced by the server, and the switch for Tala. */
export default function PrivacyScreen() {
  const { t } = useTranslation();
  const settings = useSettings();
  const updateSettings = useUpdateSettings();
  const showsNumber = settings.phoneTo !== "nobody";
  return (
    <SettingsPage title={t("settings.privacy.title")} description={t("settings.privacy.description")}>
      <SettingsCard title={t("settings.privacy.others")} icon="i-ph-lock-simple">
        {() => (
          <>
            {privacySwitches.map(({ name, label, body }) => (
              <div key={name}>
                <SwitchRow
                  label={t(label)}
                  description={t(body)}
                  isOn={settings[name]}
                  onChange={(isOn) => updateSettings({ [name]: isOn })}
                />
                {name === "presence" && settings.presence && <ExceptionsRow name={name} label={t(label)} />}
              </div>
            ))}
            <FindableByField value={settings.findable} onChoose={(findable) => updateSettings({ findable })} />
            <ContactSwitch
              name="phoneTo"
              label={t("settings.privacy.phoneTo")}
              body={t("settings.privacy.phoneToBody")}
            />
            <SwitchRow
              label={t("settings.privacy.phoneInGroups")}
              description={t(
                showsNumber ? "settings.privacy.phoneInGroupsBody" : "settings.privacy.phoneInGroupsHidden",
              )}
              isOn={showsNumber && settings.phoneInGroups}
              isUnavailable={!showsNumber}
              onChange={(phoneInGroups) => updateSettings({ phoneInGroups })}
            />
            <PictureToField />
            <SwitchRow
              label={t("settings.privacy.requestsFrom")}
              description={t("settings.privacy.requestsFromBody")}
              isOn={settings.requestsFrom === "everyone"}
              onChange={(isOn) => updateSettings({ requestsFrom: isOn ? "everyone" : "nobody" })}
            />
            <ContactSwitch
              name="callsFrom"
              label={t("settings.privacy.callsFrom")}
              body={t("settings.privacy.callsFromBody")}
            />
            <ContactSwitch
              name="groupAdds"
              label={t("settings.privacy.groupAdds")}
              body={t("settings.privacy.groupAddsBody")}
            />
            <BlockedLink />
          </>
        )}
      </SettingsCard>
      <SettingsCard title={t("shell.tabs.tala")} icon="i-ph-eye">
        {() => (
          <>
            <SwitchRow
              label={t("settings.privacy.tala")}
              description={t("settings.privacy.talaBody")}
              isOn={settings.tala}
              onChange={(tala) => updateSettings({ tala })}
            />
            <StatusesToField />
          </>
        )}
      </SettingsCard>
      <AllowanceCard />
      <SettingsCard title={t("settings.privacy.seen.title")} icon="i-ph-info">
        {(heading) => (
          <ul aria-labelledby={heading} className="divide-y divide-line">
            {visibilityFacts.map(({ fact, icon }) => (
              <li key={fact} className="flex gap-3 px-4 py-3 text-sm">
                <span className={`${icon} mt-0.5 shrink-0 text-xl text-muted`} aria-hidden="true" />
                {t(`settings.privacy.seen.${toShownFact(fact, settings)}`)}
              </li>
            ))}
          </ul>
        )}
      </SettingsCard>
    </SettingsPage>
  );
}
