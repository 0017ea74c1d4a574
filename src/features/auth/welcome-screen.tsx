import { ButtonLink } from "../../components/button";
import { useT } from "../../i18n/setup";
import { Mark } from "./brand";
import { LanguageLinks } from "./language-links";
import { useDocumentTexts } from "./use-document-texts";

/** SPEC.md §2: the language, and the two ways in. */
export default function WelcomeScreen() {
  const t = useT();
  useDocumentTexts(t("auth.welcomeTitle"), t("auth.welcomeDescription"));
  return (
    <div className="entry-ground flex min-h-screen min-h-dvh flex-col px-6 pt-safe pb-safe">
      <header className="flex justify-center pt-4">
        <LanguageLinks />
      </header>
      <main className="mx-auto flex w-full max-w-96 flex-1 flex-col justify-center gap-10 py-8">
        <div className="flex flex-col items-center text-center">
          <Mark className="size-28" />
          <h1 className="mt-5 text-5xl font-extrabold tracking-tight">Lisolo</h1>
          <p className="mt-3 text-balance text-lg text-muted">{t("auth.promise")}</p>
        </div>
        <div className="flex flex-col gap-3">
          <ButtonLink href="/register">{t("auth.createAccount")}</ButtonLink>
          <ButtonLink href="/login" look="secondary">
            {t("auth.logIn")}
          </ButtonLink>
        </div>
      </main>
    </div>
  );
}
