import type { Language } from "#contract/language.ts";
import { type Mail, type MailText, toMail } from "./mail.ts";

const numberLostTexts: Record<Language, (handle: string) => MailText> = {
  fr: (handle) => ({
    subject: "Lisolo : votre numéro appartient à quelqu’un d’autre",
    text: `Bonjour,

Quelqu’un vient de vérifier le numéro de téléphone de votre compte Lisolo. Ce numéro est maintenant le sien.

Votre compte reste à vous, avec vos discussions, vos groupes et vos contacts. Votre identifiant est @${handle} : il remplace le numéro pour vous connecter, avec le même mot de passe. Dans l’application, vous pouvez choisir un autre identifiant ou vérifier votre nouveau numéro.`,
  }),
  en: (handle) => ({
    subject: "Lisolo: your number belongs to somebody else",
    text: `Hello,

Somebody has just verified the phone number of your Lisolo account. The number is theirs now.

Your account stays yours, with your chats, groups and contacts. Your handle is @${handle}: it replaces the number when you log in, with the same password. In the app you can choose another handle or verify your new number.`,
  }),
  pt: (handle) => ({
    subject: "Lisolo: o seu número pertence a outra pessoa",
    text: `Olá,

Alguém acabou de verificar o número de telefone da sua conta Lisolo. O número é agora dessa pessoa.

A conta continua a ser sua, com as suas conversas, grupos e contactos. O seu identificador é @${handle}: substitui o número ao iniciar sessão, com a mesma palavra-passe. Na aplicação pode escolher outro identificador ou verificar o seu novo número.`,
  }),
};

const numberContestedTexts: Record<Language, (days: number) => MailText> = {
  fr: (days) => ({
    subject: "Lisolo : vérifiez de nouveau votre numéro",
    text: `Bonjour,

Quelqu’un d’autre a montré que le numéro de téléphone de votre compte Lisolo est le sien. Si c’est toujours le vôtre, vérifiez-le de nouveau dans l’application, sous Profil, dans les ${days} jours. Sinon, il pourra le prendre ; votre compte et vos discussions restent à vous dans tous les cas.`,
  }),
  en: (days) => ({
    subject: "Lisolo: verify your number again",
    text: `Hello,

Somebody else has shown that the phone number of your Lisolo account is theirs. If it is still yours, verify it again in the app, in your profile, within ${days} days. Otherwise they may take it; your account and chats stay yours in any case.`,
  }),
  pt: (days) => ({
    subject: "Lisolo: verifique de novo o seu número",
    text: `Olá,

Outra pessoa mostrou que o número de telefone da sua conta Lisolo é dela. Se ainda é seu, verifique-o de novo na aplicação, no seu perfil, dentro de ${days} dias. Caso contrário, ela poderá ficar com ele; a sua conta e as suas conversas continuam a ser suas em qualquer caso.`,
  }),
};

export const createNumberLostMail = (to: string, language: Language, handle: string): Mail =>
  toMail(to, language, numberLostTexts[language](handle));

export const createNumberContestedMail = (to: string, language: Language, days: number): Mail =>
  toMail(to, language, numberContestedTexts[language](days));
