// People of the demo, their chats, open requests, blocks and mutes.

export const password = "Mokolo-ya-2026";

export const people = [
  {
    key: "grace",
    name: "Grâce Mbuyi",
    phone: "+243810000001",
    look: {
      ground: [134, 41, 95],
      glow: [214, 130, 176],
      skin: [112, 70, 50],
      hair: [38, 24, 26],
      cloth: [240, 180, 60],
      accent: [30, 90, 110],
      style: "wrap",
    },
  },
  {
    key: "patrick",
    name: "Patrick Ilunga",
    phone: "+243810000002",
    look: {
      ground: [32, 84, 110],
      glow: [120, 180, 200],
      skin: [92, 58, 42],
      hair: [24, 18, 18],
      cloth: [236, 232, 220],
      accent: [190, 70, 50],
      style: "short",
    },
  },
  {
    key: "nzinga",
    name: "Nzinga Domingos",
    phone: "+243810000003",
    look: {
      ground: [196, 104, 40],
      glow: [250, 196, 120],
      skin: [126, 80, 56],
      hair: [30, 20, 22],
      cloth: [60, 130, 90],
      accent: [245, 220, 140],
      style: "round",
    },
  },
  {
    key: "chancel",
    name: "Chancel Makaya",
    phone: "+243810000004",
    look: {
      ground: [58, 110, 72],
      glow: [160, 205, 150],
      skin: [84, 52, 38],
      hair: [20, 16, 18],
      cloth: [50, 60, 120],
      accent: [235, 160, 60],
      style: "short",
    },
  },
  {
    key: "aline",
    name: "Aline Fournier",
    phone: "+243810000005",
    look: {
      ground: [92, 84, 150],
      glow: [190, 184, 230],
      skin: [222, 176, 148],
      hair: [110, 66, 38],
      cloth: [200, 80, 90],
      accent: [250, 236, 220],
      style: "long",
    },
  },
  {
    key: "joao",
    name: "João Mateus",
    phone: "+243810000006",
    look: {
      ground: [40, 60, 80],
      glow: [140, 160, 180],
      skin: [150, 102, 74],
      hair: [46, 32, 28],
      cloth: [90, 150, 170],
      accent: [240, 240, 235],
      style: "short",
    },
  },
  {
    key: "tombola",
    name: "Tombola Express",
    phone: "+243810000007",
    look: {
      ground: [150, 120, 20],
      glow: [250, 226, 120],
      skin: [120, 82, 60],
      hair: [40, 30, 24],
      cloth: [160, 30, 40],
      accent: [250, 220, 90],
      style: "short",
    },
  },
];

/**
 * Chats. `turns` is the number of messages from the text bank; `shown` are attachments that follow; `last` are the
 * final lines. `days` is the duration of the chat, `until` the time of its last message (timeline.mjs `toEpochMs`);
 * `calls` are made in between. `read` is the receipt of the final lines, which are unread otherwise: `delivered` means
 * received but not read.
 */
export const chats = [
  {
    pair: ["grace", "tombola"],
    days: 9,
    until: { days: 9, at: "16:42" },
    languages: ["fr"],
    turns: 0,
    last: [
      "b FÉLICITATIONS Madame !!! Vous avez gagné 5 000 $ 🎁🎁🎁",
      "b Envoyez seulement 20 $ de frais au 0810000007",
      "a Je n'ai jamais joué. Ne m'écrivez plus.",
      "b Madame c'est votre dernière chance",
    ],
    read: "read",
  },
  {
    pair: ["grace", "nzinga"],
    days: 30,
    until: { minutes: 96 },
    calls: [{ by: "b", kind: "video", when: { days: 1, at: "20:15" } }],
    languages: ["fr", "pt"],
    turns: 90,
    shown: [
      { by: "b", picture: "river", text: "O rio hoje às seis. Saudades 💛" },
      { by: "a", voice: true },
    ],
    last: ["b Chegaste bem? Diz-me só uma palavra 🙏", "b E manda a foto do bolo!"],
    read: "delivered",
  },
  {
    pair: ["grace", "aline"],
    days: 26,
    until: { days: 1, at: "21:38" },
    calls: [{ by: "b", kind: "video", when: { days: 8, at: "18:05" }, seconds: 214 }],
    languages: ["fr", "en"],
    turns: 70,
    shown: [{ by: "b", picture: "river", text: "From the ferry. I miss this light." }],
    last: ["a Je t'appelle demain matin, il sera 8 h chez toi."],
    read: "delivered",
  },
  {
    pair: ["patrick", "chancel"],
    days: 21,
    until: { minutes: 34 },
    languages: ["ln", "fr"],
    turns: 100,
    shown: [{ by: "b", voice: true }],
    last: ["b Ndeko, ozali wapi?", "b Match ebandi!", "b 1–0 🔥", "b Yaka noki"],
    read: "delivered",
  },
  {
    pair: ["patrick", "nzinga"],
    days: 24,
    until: { days: 4, at: "11:20" },
    languages: ["fr", "pt", "en"],
    turns: 100,
    last: ["a Parfait, on garde mardi.", "b Terça então. Até lá!"],
    read: "read",
  },
  {
    pair: ["nzinga", "joao"],
    days: 18,
    until: { minutes: 380 },
    languages: ["pt"],
    turns: 50,
    last: ["a Avisa quando saíres."],
    read: "none",
  },
  {
    pair: ["chancel", "aline"],
    days: 20,
    until: { days: 3, at: "19:02" },
    languages: ["fr", "en"],
    turns: 40,
    last: ["b Merci Chancel, à bientôt à Brazza !"],
    read: "read",
  },
  {
    pair: ["grace", "patrick"],
    days: 32,
    until: { minutes: 11 },
    calls: [
      { by: "a", kind: "audio", when: { days: 6, at: "12:31" }, seconds: 148 },
      { by: "b", kind: "audio", when: { days: 1, at: "19:47" } },
    ],
    languages: ["fr", "ln"],
    turns: 140,
    shown: [
      {
        by: "a",
        page: {
          name: "Programme du dimanche.pdf",
          lines: [
            "Programme du dimanche",
            "10 h : messe à Matonge",
            "13 h : repas chez maman Rose (pondu, makayabu, chikwangue)",
            "16 h : le gâteau de Mireille",
            "18 h : promenade au bord du fleuve",
          ],
        },
        text: "Le programme, comme promis.",
      },
      { by: "b", picture: "cake", text: "Et voilà le gâteau de Mireille 🎂" },
      { by: "b", voice: true },
    ],
    last: [
      "a Je pars du bureau.",
      "b D'accord, je t'attends devant la pharmacie.",
      "b Kobosana mapa te 😄",
      "b Et le chargeur stp",
    ],
    read: "delivered",
  },
];

/** Unanswered requests, from whom to whom. */
export const openRequests = [
  ["joao", "grace"],
  ["grace", "chancel"],
  ["patrick", "aline"],
  ["joao", "patrick"],
];

/** Blocks (by whom, whom) and muted chats. */
export const blocks = [["grace", "tombola"]];
export const mutes = [
  ["grace", "aline"],
  ["patrick", "chancel"],
];

/** Public statuses, oldest first. */
export const statuses = [
  {
    by: "aline",
    when: { days: 5, at: "08:12" },
    text: "Premier jour de neige à Montréal. Le pays me manque ❄️",
  },
  {
    by: "patrick",
    when: { days: 3, at: "17:30" },
    text: "Atelier ouvert samedi de 9 h à 15 h, avenue Kasa-Vubu.\nVenez avec vos téléphones cassés.",
  },
  {
    by: "joao",
    when: { days: 2, at: "20:04" },
    text: "Alguém vai a Talatona amanhã de manhã? Levo duas pessoas.",
  },
  { by: "nzinga", when: { days: 1, at: "18:09" }, picture: "river", text: "O rio, hoje às seis." },
  { by: "grace", when: { minutes: 250 }, picture: "cake", text: "Premier essai de gâteau. Qui veut goûter ? 🎂" },
  { by: "chancel", when: { minutes: 31 }, text: "Match ya lelo: 1–0 🔥 Poto-Poto ebandaki na malamu!" },
];
