import { privateConversationId } from "#contract/ids.ts";
import { minuteMs } from "#contract/limits/durations.ts";
import type { ChatViewData, FirstViewData, ListEntry } from "#first-view/view-data.ts";

/**
 * First views with made-up content, whose compressed size stands in the byte budget (scripts/check/byte-budget.mjs). As
 * many rows and messages as the Worker draws.
 */

const now = Date.UTC(2026, 5, 15, 12);
const me = "01a00000-0000-7000-8000-000000000000";

const names = [
  "Grâce Mbuyi",
  "Patrick Ilunga",
  "Maman Chantal",
  "Dieudonné Kasongo",
  "Ruth Tshibola",
  "Papa Albert",
  "Sarah Lukusa",
  "Jonathan Mwamba",
  "Esther Kalala",
  "Fiston Ngoy",
  "Bénédicte Musau",
  "Trésor Kabeya",
  "Naomie Ntumba",
  "Christian Banza",
];

const texts = [
  "Bonjour, tu es bien arrivé ?",
  "Oui, il y a une heure. Le bus était plein mais ça va.",
  "Dieu merci. La pluie n'a pas trop dérangé ?",
  "Un peu à Limete, la route est mauvaise là-bas.",
  "Envoie-moi le prix du sac de farine quand tu passes au marché.",
  "D'accord, je demande demain matin.",
  "N'oublie pas le médicament de papa",
  "Je l'ai noté 👍",
  "Tante Marie te salue, elle demande quand tu reviens.",
  "Samedi prochain si le travail finit à temps. Dites-lui que j'ai trouvé les photos qu'elle cherchait.",
  "Elle sera contente !",
  "On mange à quelle heure ce soir ?",
  "Vers 19 h, comme d'habitude",
  "À tout à l'heure",
];

const toUserId = (n: number): string => `01a00000-0000-7000-8000-0000000${String(10_000 + n)}`;
const toPerson = (n: number) => ({
  username: names[n] ?? "",
  phone: `+24381000${String(n).padStart(4, "0")}`,
  avatar: null,
});

const toEntry = (name: string, n: number): ListEntry => ({
  id: privateConversationId(me, toUserId(n)),
  kind: "private",
  peer: toUserId(n),
  person: { ...toPerson(n), username: name, blocked: 0 },
  group: null,
  memberProfiles: {},
  unread: n % 4 === 1 ? n : 0,
  mentions: [],
  marked: n === 2,
  pinned: n === 0,
  muted: n % 5 === 2,
  mutedExceptMentions: false,
  at: now - n * n * 37 * minuteMs,
  last: {
    body: { type: "text", text: texts[n] ?? "" },
    mine: n % 3 === 0,
    sender: 0,
    status: n % 2 === 0 ? "read" : "delivered",
  },
});

const sampleList: FirstViewData = {
  type: "list",
  me: { username: "Moi", phone: "+243810000099", avatar: null },
  entries: names.map(toEntry),
  archivedCount: 2,
  marks: { unread: 15, received: 1 },
  hasTala: true,
  now,
};

const sampleChat: ChatViewData = {
  type: "chat",
  me,
  conversation: privateConversationId(me, toUserId(0)),
  peer: toUserId(0),
  person: toPerson(0),
  name: names[0] ?? "",
  isMuted: false,
  memberCount: undefined,
  members: undefined,
  messages: texts
    .map((text, n) => ({
      seq: n + 1,
      mine: n % 3 !== 0,
      at: now - (texts.length - n) * 7 * minuteMs,
      body: { type: "text" as const, text },
      status: n === texts.length - 1 ? ("delivered" as const) : ("read" as const),
    }))
    .reverse(),
  thumbs: new Set(),
  hasOlder: true,
  pinned: 1,
  now,
  shiftMs: 0,
};

export const firstViewSamples: Readonly<Record<string, FirstViewData>> = { list: sampleList, chat: sampleChat };
