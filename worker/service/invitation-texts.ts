import type { Language } from "#contract/language.ts";

type InvitationTexts = {
  title: string;
  /** Heading before and after the name. */
  invites: readonly [before: string, after: string];
  body: string;
  register: string;
  login: string;
  gone: string;
  goneBody: string;
  open: string;
};

/** Texts of the page of an invitation. */
export const invitationTexts: Record<Language, InvitationTexts> = {
  fr: {
    title: "Invitation sur Lisolo",
    invites: ["", " vous invite sur Lisolo"],
    body: "Créez un compte : vous serez aussitôt en contact, et pourrez vous écrire et vous appeler.",
    register: "Créer mon compte",
    login: "J'ai déjà un compte",
    gone: "Cette invitation n'est plus valable",
    goneBody: "Elle a expiré, a été retirée ou a déjà servi trop de fois. Demandez un nouveau lien.",
    open: "Ouvrir Lisolo",
  },
  en: {
    title: "Invitation to Lisolo",
    invites: ["", " invites you to Lisolo"],
    body: "Create an account: you will be in contact at once, and can write to and call each other.",
    register: "Create my account",
    login: "I have an account",
    gone: "This invitation is no longer valid",
    goneBody: "It has expired, was withdrawn or has been used too often. Ask for a new link.",
    open: "Open Lisolo",
  },
  pt: {
    title: "Convite para o Lisolo",
    invites: ["Convite de ", " para o Lisolo"],
    body: "Crie uma conta: ficarão logo em contacto e poderão escrever e telefonar um ao outro.",
    register: "Criar a minha conta",
    login: "Já tenho conta",
    gone: "Este convite já não é válido",
    goneBody: "Expirou, foi retirado ou já foi usado demasiadas vezes. Peça um novo link.",
    open: "Abrir o Lisolo",
  },
};
