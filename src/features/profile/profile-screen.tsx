import { useState } from "react";
import { Link } from "react-router";
import { type Language, languages } from "../../../contract/language";
import { Avatar } from "../../components/avatar";
import { Button } from "../../components/button";
import { Screen } from "../../components/screen";
import { showToast } from "../../components/toast";
import { t as currentText, setLanguage, useLanguage, useT } from "../../i18n/setup";
import { useMe } from "../../sync/hooks";
import { useSignOut } from "./use-sign-out";

const languageNames: Record<Language, string> = { fr: "Français", en: "English", pt: "Português" };
const pages = [
  { id: "notifications", icon: "i-ph-bell" },
  { id: "privacy", icon: "i-ph-lock-simple" },
  { id: "help", icon: "i-ph-lifebuoy" },
] as const;

function LanguagePicker() {
  const t = useT();
  const current = useLanguage();
  const [wanted, setWanted] = useState<Language>();
  const choose = async (language: Language) => {
    setWanted(language);
    try {
      await setLanguage(language);
      showToast({ message: currentText("profile.languageChanged", { language: languageNames[language] }) });
    } catch {
      // The texts of that language are not on this phone and the network is away: the choice stays as it was.
      showToast({ title: t("common.error"), message: t("errors.offline"), tone: "danger" });
    } finally {
      setWanted(undefined);
    }
  };
  return (
    <fieldset className="p-4">
      <legend className="float-left mb-2 flex w-full items-center gap-3 font-semibold">
        <span className="i-ph-translate text-2xl text-muted" aria-hidden="true" />
        {t("common.language")}
      </legend>
      <div className="clear-both grid grid-cols-[repeat(auto-fit,minmax(88px,1fr))] gap-2">
        {languages.map((language) => (
          <label
            key={language}
            className="grid min-h-12 cursor-pointer place-items-center rounded-card border border-field px-0.5 text-center text-[15px] has-[:checked]:border-accent has-[:checked]:bg-accent-soft has-[:checked]:font-bold has-[:checked]:text-accent has-[:focus-visible]:outline-3 has-[:focus-visible]:outline-offset-2 has-[:focus-visible]:outline-accent"
          >
            <input
              type="radio"
              name="language"
              className="sr-only"
              lang={language}
              checked={(wanted ?? current) === language}
              onChange={() => void choose(language)}
            />
            <span lang={language}>{languageNames[language]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function PageLink({ to, icon, label }: { to: string; icon: string; label: string }) {
  return (
    <Link to={to} className="flex min-h-14 items-center gap-3 px-4 -outline-offset-3 hover:bg-raised">
      <span className={`${icon} text-2xl text-muted`} aria-hidden="true" />
      <span className="flex-1">{label}</span>
      <span className="i-ph-caret-right text-muted" aria-hidden="true" />
    </Link>
  );
}

/** The own profile: who one is here, the language, and the way out. */
export default function ProfileScreen() {
  const t = useT();
  const me = useMe();
  const { isBusy, ask, dialog } = useSignOut();
  return (
    <Screen
      title={t("profile.title")}
      description={t("profile.description")}
      back="/app"
      backMode="previous"
      profile={false}
    >
      <div className="mx-auto flex w-full max-w-120 flex-col gap-4 p-4 pb-8">
        <div className="flex min-h-54 flex-col items-center gap-1 py-4 text-center">
          {me && (
            <>
              <Avatar person={me} size={112} />
              <p className="mt-3 max-w-full text-[length:calc(1rem+8px)] leading-[calc(1rem+16px)] font-bold break-words">
                <bdi>{me.username || t("common.user")}</bdi>
              </p>
              <p className="text-muted">
                <bdi dir="ltr">{me.phone}</bdi>
              </p>
            </>
          )}
        </div>
        <section
          aria-label={t("profile.settings")}
          className="divide-y divide-line rounded-card border border-line bg-surface"
        >
          <LanguagePicker />
          <PageLink to="/app/blocked" icon="i-ph-prohibit" label={t("blocked.title")} />
          {pages.map(({ id, icon }) => (
            <PageLink key={id} to={`/app/${id}`} icon={icon} label={t(`later.${id}.title`)} />
          ))}
        </section>
        <Button look="secondary" busy={isBusy} onClick={() => void ask()}>
          <span className="flex items-center justify-center gap-2">
            <span className="i-ph-sign-out text-xl" aria-hidden="true" />
            {t("profile.signOut")}
          </span>
        </Button>
      </div>
      {dialog}
    </Screen>
  );
}
