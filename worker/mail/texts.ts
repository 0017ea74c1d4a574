import type { Language } from "#contract/language.ts";
import { mailedTokenMinutes } from "#contract/limits/authentication.ts";
import { type Mail, type MailText, toMail } from "./mail.ts";

/** Secrets of a mail: a link to open, and a code to type on the page that requested it. */
type MailedLink = { link: string; code: string };

const minutes = mailedTokenMinutes;

const recoveryTexts: Record<Language, (brought: MailedLink) => MailText> = {
  fr: ({ link, code }) => ({
    subject: "Lisolo : un nouveau mot de passe",
    text: `Bonjour,

Quelqu’un, sans doute vous, a oublié le mot de passe de votre compte Lisolo. Pour en choisir un nouveau, ouvrez ce lien :
${link}

Ou tapez ce code là où vous l’avez demandé : ${code}

Le lien et le code servent une seule fois, pendant ${minutes} minutes. Si vous n’avez rien demandé, ignorez ce message : rien ne change.`,
  }),
  en: ({ link, code }) => ({
    subject: "Lisolo: a new password",
    text: `Hello,

Somebody, probably you, forgot the password of your Lisolo account. To choose a new one, open this link:
${link}

Or type this code where you asked for it: ${code}

The link and the code work once, for ${minutes} minutes. If you asked for nothing, ignore this message: nothing changes.`,
  }),
  pt: ({ link, code }) => ({
    subject: "Lisolo: uma nova palavra-passe",
    text: `Olá,

Alguém, provavelmente você, esqueceu a palavra-passe da sua conta Lisolo. Para escolher uma nova, abra este link:
${link}

Ou escreva este código onde o pediu: ${code}

O link e o código servem uma só vez, durante ${minutes} minutos. Se não pediu nada, ignore esta mensagem: nada muda.`,
  }),
};

const confirmationTexts: Record<Language, (brought: MailedLink) => MailText> = {
  fr: ({ link, code }) => ({
    subject: "Lisolo : confirmez votre adresse",
    text: `Bonjour,

Cette adresse doit servir à retrouver un compte Lisolo. Si c’est le vôtre, confirmez-la en ouvrant ce lien :
${link}

Ou avec ce code : ${code}

Le lien et le code servent une seule fois, pendant ${minutes} minutes. Si vous n’avez rien demandé, ignorez ce message : l’adresse ne sera pas utilisée.`,
  }),
  en: ({ link, code }) => ({
    subject: "Lisolo: confirm your address",
    text: `Hello,

This address is to be used to recover a Lisolo account. If the account is yours, confirm the address by opening this link:
${link}

Or with this code: ${code}

The link and the code work once, for ${minutes} minutes. If you asked for nothing, ignore this message: the address will not be used.`,
  }),
  pt: ({ link, code }) => ({
    subject: "Lisolo: confirme o seu endereço",
    text: `Olá,

Este endereço vai servir para recuperar uma conta Lisolo. Se a conta é sua, confirme-o abrindo este link:
${link}

Ou com este código: ${code}

O link e o código servem uma só vez, durante ${minutes} minutos. Se não pediu nada, ignore esta mensagem: o endereço não será usado.`,
  }),
};

const addressChangeTexts: Record<Language, MailText> = {
  fr: {
    subject: "Lisolo : votre adresse de récupération change",
    text: `Bonjour,

L’adresse de récupération de votre compte Lisolo, celle-ci, est en train d’être remplacée.

Si c’est vous, il n’y a rien à faire. Sinon, ouvrez Lisolo, changez votre mot de passe et déconnectez les autres appareils dans Sécurité.`,
  },
  en: {
    subject: "Lisolo: your recovery address is changing",
    text: `Hello,

The recovery address of your Lisolo account, this one, is being replaced.

If it is you, there is nothing to do. If not, open Lisolo, change your password and log out the other devices under Security.`,
  },
  pt: {
    subject: "Lisolo: o seu endereço de recuperação vai mudar",
    text: `Olá,

O endereço de recuperação da sua conta Lisolo, este, está a ser substituído.

Se foi você, não há nada a fazer. Se não, abra o Lisolo, mude a palavra-passe e termine a sessão dos outros dispositivos em Segurança.`,
  },
};

const addressRemovalTexts: Record<Language, MailText> = {
  fr: {
    subject: "Lisolo : votre adresse de récupération a été retirée",
    text: `Bonjour,

Cette adresse ne sert plus à retrouver votre compte Lisolo.

Si c’est vous, il n’y a rien à faire. Sinon, ouvrez Lisolo, changez votre mot de passe et déconnectez les autres appareils dans Sécurité.`,
  },
  en: {
    subject: "Lisolo: your recovery address was removed",
    text: `Hello,

This address no longer recovers your Lisolo account.

If it was you, there is nothing to do. If not, open Lisolo, change your password and log out the other devices under Security.`,
  },
  pt: {
    subject: "Lisolo: o seu endereço de recuperação foi removido",
    text: `Olá,

Este endereço já não serve para recuperar a sua conta Lisolo.

Se foi você, não há nada a fazer. Se não, abra o Lisolo, mude a palavra-passe e termine a sessão dos outros dispositivos em Segurança.`,
  },
};

export const createRecoveryMail = (to: string, language: Language, secrets: MailedLink): Mail =>
  toMail(to, language, recoveryTexts[language](secrets));

export const createConfirmationMail = (to: string, language: Language, secrets: MailedLink): Mail =>
  toMail(to, language, confirmationTexts[language](secrets));

/** Mail to an address that is being replaced or removed. */
export const createFormerAddressMail = (to: string, language: Language, reason: "change" | "removal"): Mail =>
  toMail(to, language, (reason === "change" ? addressChangeTexts : addressRemovalTexts)[language]);
