import { type Language, languages } from "#contract/language.ts";
import { factorResetHours } from "#contract/limits/authentication.ts";
import { type Mail, type MailText, toMultilingualMail } from "./mail.ts";

/** Warnings to the recovery address about account changes that somebody else may have made. */

const factorResetTexts: Record<Language, (due: string) => MailText> = {
  fr: (due) => ({
    subject: "Lisolo : quelqu’un demande le retrait de votre deuxième étape",
    text: `Bonjour,

Quelqu’un qui connaît le mot de passe de votre compte Lisolo, ou qui lit ses e-mails de récupération, a demandé que la deuxième étape soit retirée. Elle le sera dans ${factorResetHours} heures, le ${due}.

Si c’est vous, il n’y a rien à faire.

Sinon, connectez-vous à Lisolo : montrer votre deuxième étape suffit à tout annuler. Sur un appareil déjà connecté, touchez « Garder la deuxième étape ». Changez ensuite votre mot de passe dans Sécurité.`,
  }),
  en: (due) => ({
    subject: "Lisolo: somebody asks for your second step to be removed",
    text: `Hello,

Somebody who knows the password of your Lisolo account, or reads its recovery e-mails, asked for the second step to be removed. It will be in ${factorResetHours} hours, on ${due}.

If it was you, there is nothing to do.

If not, log in to Lisolo: showing your second step is enough to cancel it all. On a device that is already logged in, tap “Keep the second step”. Then change your password under Security.`,
  }),
  pt: (due) => ({
    subject: "Lisolo: alguém pede que o seu segundo passo seja retirado",
    text: `Olá,

Alguém que conhece a palavra-passe da sua conta Lisolo, ou que lê os e-mails de recuperação, pediu que o segundo passo seja retirado. Será retirado dentro de ${factorResetHours} horas, em ${due}.

Se foi você, não há nada a fazer.

Se não, entre no Lisolo: basta mostrar o seu segundo passo para cancelar tudo. Num dispositivo com sessão iniciada, toque em «Manter o segundo passo». Depois altere a palavra-passe em Segurança.`,
  }),
};

const passwordChangeTexts: Record<Language, MailText> = {
  fr: {
    subject: "Lisolo : votre mot de passe a été changé",
    text: `Bonjour,

Le mot de passe de votre compte Lisolo vient d’être changé, et les autres appareils ont été déconnectés.

Si c’est vous, il n’y a rien à faire. Sinon, ouvrez Lisolo et touchez « Mot de passe oublié ? » : un e-mail à cette adresse permet d’en choisir un nouveau.`,
  },
  en: {
    subject: "Lisolo: your password was changed",
    text: `Hello,

The password of your Lisolo account has just been changed, and the other devices were logged out.

If it was you, there is nothing to do. If not, open Lisolo and tap “Forgot your password?”: an e-mail to this address lets you choose a new one.`,
  },
  pt: {
    subject: "Lisolo: a sua palavra-passe foi alterada",
    text: `Olá,

A palavra-passe da sua conta Lisolo acaba de ser alterada, e a sessão dos outros dispositivos foi terminada.

Se foi você, não há nada a fazer. Se não, abra o Lisolo e toque em «Esqueceu a palavra-passe?»: um e-mail para este endereço permite escolher uma nova.`,
  },
};

/** Time in UTC, because the reader's time zone is unknown. */
const formatUtc = (at: number, language: Language): string =>
  `${new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }).format(at)} (UTC)`;

/**
 * Mail in all languages. The requester's language comes first, because usually they are the owner; the others follow in
 * case they are not.
 */
const toMailInAllLanguages = (to: string, first: Language, textIn: (language: Language) => MailText): Mail =>
  toMultilingualMail(to, [
    [first, textIn(first)],
    ...languages
      .filter((language) => language !== first)
      .map((language): [Language, MailText] => [language, textIn(language)]),
  ]);

/** Warning that the second factor will be removed at `due` unless the owner cancels it. */
export const createFactorResetMail = (to: string, first: Language, due: number): Mail =>
  toMailInAllLanguages(to, first, (language) => factorResetTexts[language](formatUtc(due, language)));

/** Notice of a changed password, by mail because the other devices are signed out. */
export const createPasswordChangeMail = (to: string, first: Language): Mail =>
  toMailInAllLanguages(to, first, (language) => passwordChangeTexts[language]);
