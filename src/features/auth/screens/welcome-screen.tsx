import { useTranslation } from "react-i18next";
import { ButtonLink } from "#components/controls/button.tsx";
import { BrandLogo } from "./brand-logo.tsx";
import { LanguageLinks } from "./language-links.tsx";
import { useDocumentMeta } from "./use-document-meta.ts";

/** Decorative sample chat in Lingala, the same in every language. */
function SampleConversation() {
  const bubble = "rounded-bubble px-4 py-2 shadow-[var(--shadow)]";
  return (
    <div aria-hidden="true" className="mt-8 flex w-full max-w-72 flex-col gap-2">
      <p className={`${bubble} self-start rounded-bl-md bg-surface`}>Mbote! Sango nini?</p>
      <p className={`${bubble} flex items-end gap-2 self-end rounded-br-md bg-own`}>
        Sango malamu!
        <span className="i-ph-checks-bold text-lg text-read" />
      </p>
    </div>
  );
}

/** Welcome page (SPEC.md §2): language links, registration and sign-in. */
export default function WelcomeScreen() {
  const { t } = useTranslation();
  useDocumentMeta(t("auth.welcomeTitle"), t("auth.welcomeDescription"));
  return (
    <div className="entry-ground flex min-h-screen min-h-dvh flex-col px-6 pt-safe pb-safe">
      <header className="flex justify-center pt-4">
        <LanguageLinks />
      </header>
      <main className="mx-auto flex w-full max-w-96 flex-1 flex-col py-8 sm:justify-center">
        <div className="flex flex-1 flex-col items-center justify-center text-center sm:flex-none">
          <BrandLogo className="size-24" />
          <h1 className="mt-4 text-5xl font-extrabold tracking-tight">Lisolo</h1>
          <p className="mt-3 text-balance text-lg text-muted">{t("auth.promise")}</p>
          <SampleConversation />
        </div>
        <div className="mt-10 flex flex-col gap-3">
          <ButtonLink href="/register">{t("auth.createAccount")}</ButtonLink>
          <ButtonLink href="/login" variant="secondary">
            {t("auth.logIn")}
          </ButtonLink>
        </div>
      </main>
    </div>
  );
}
