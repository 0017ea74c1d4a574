// Text bank of the demo: short exchanges between "a" and "b", with words that vary between them.

const words = {
  place: ["Gombe", "Matonge", "Bandal", "Lemba", "Limete", "Poto-Poto", "Bacongo", "Maianga", "Talatona", "Ngaliema"],
  food: [
    "pondu",
    "makayabu",
    "fumbwa",
    "saka-saka",
    "liboke",
    "muamba",
    "chikwangue",
    "poulet mayo",
    "funge",
    "makemba",
  ],
  name: [
    "maman Rose",
    "ya Fiston",
    "tantine Béa",
    "papa Jean",
    "Mireille",
    "Dona Lurdes",
    "petit Glody",
    "Sandra",
    "Hervé",
    "Ketsia",
  ],
  hour: ["7h30", "9h", "10h15", "midi", "14h", "15h30", "17h", "18h20", "19h", "20h30"],
  day: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
  dia: ["segunda", "terça", "quarta", "quinta", "sexta", "sábado", "domingo"],
  weekday: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
  money: ["5 000", "12 000", "20 000", "35 000", "8 500", "50 000", "15 000"],
};

/** One exchange per paragraph. */
const bank = {
  fr: `a Bonjour, tu as bien dormi ?
b Oui merci, et toi ? Il a plu toute la nuit ici
a Pareil à {place}, la rue est une rivière 😅

a Tu passes par {place} aujourd'hui ?
b Vers {hour} normalement
a Tu peux prendre le colis chez {name} ?
b Sans problème
a Merci, tu me sauves

b On mange quoi ce soir ?
a J'ai du {food} d'hier
b Encore 😂
a Alors toi tu cuisines
b Ok ok, {food} d'hier c'est très bien

a Le courant est parti chez vous aussi ?
b Depuis {hour}
a Mon téléphone est à 9 %
b Viens charger ici, j'ai le petit panneau
a J'arrive

b {name} demande de tes nouvelles
a Ah bon ? Dis-lui que je l'appelle {day}
b Elle va être contente

a Tu as reçu mon message vocal ?
b Pas encore, la connexion est trop faible ici
a Ce n'est pas pressé, écoute à la maison

a Combien le taxi jusqu'à {place} maintenant ?
b Ils demandent {money}
a C'est trop !
b Prends le bus, il y en a un à {hour}

b Félicitations pour l'examen 🎉🎉
a Merciii, je n'y croyais plus
b On fête ça {day} ?
a Oui, chez {name}, avec du {food}

a Réunion déplacée à {hour}
b Noté. C'est toujours à {place} ?
a Oui, deuxième étage
b J'apporte les copies

b Tu as l'argent du loyer ?
a Il me manque {money}
b Je t'avance, tu me rends {day}
a Tu es un ange

a Les enfants sont rentrés ?
b Oui, ils font les devoirs
b Enfin… ils font semblant 😄
a Passe-moi l'aîné tout à l'heure

b Quel temps chez toi ?
a Chaud, très chaud. Et toi ?
b 6 degrés, je garde le manteau dans la maison
a Courage !

a J'ai vu {name} au marché
b Elle va mieux ?
a Oui, elle marche sans la canne maintenant
b Dieu merci

b Le document est prêt ?
a Presque, il manque une signature
b Qui ?
a {name}. Je le vois à {hour}

a Ça marche pour {day} ?
b Plutôt après {hour}
a Parfait`,
  ln: `a Mbote ndeko, sango nini?
b Sango malamu, yo?
a Nazali malamu, matondi

b Ozali wapi?
a Nazali na {place}, nakoya sima ya ngonga moko
b Malamu, nazali kozela yo

a Olei?
b Te, naino te. Ezali na {food}?
a Ezali, yaka noki liboso esila 😄
b Nazali na nzela

b Mbula ezali kobeta makasi awa
a Awa pe ndenge moko
b Tika tóbima na ngonga ya {hour}

a Okutani na {name} lelo?
b Ee, apesi yo mbote mingi
a Pesa ye pe mbote na ngai

b Match ekobanda na {hour}
a Nayebi, nakosomba masanga
b Na somba pe {food}
a Ok, kasi lelo AS Vita ekolonga
b Tokomona 😂

a Mbongo ekoki?
b Ezangi {money}
a Likambo te, nakotindela yo lobi
b Matondi mingi ndeko na ngai

b Bana bakei kelasi?
a Ee, bakei na tongo
b Malamu

a Lobi tokutana na {place}?
b Ngonga nini?
a {hour}
b Ok, tokomonana

b Mosala ezali ndenge nini?
a Mosala mingi, kasi tozali kobunda
b Nzambe azali

a Maman azali malamu?
b Azali malamu, alembi mwa moke
a Yebisa ye nakoya {day}
b Akosepela mingi`,
  pt: `a Bom dia! Tudo bem?
b Tudo, graças a Deus. E por aí?
a Muito calor em {place}

b Já jantaste?
a Ainda não, estou a fazer {food}
b Guarda-me um bocado 😋
a Tens de vir depressa

a A reunião ficou para as {hour}
b Na {dia}?
a Sim, no mesmo sítio
b Combinado

b Viste {name} hoje?
a Vi, de manhã no mercado
b Diz que lhe ligo à noite
a Digo sim

a O trânsito para {place} está impossível
b Sai depois das {hour}
a Vou esperar então

b Parabéns pelo bebé!! 🎉
a Obrigada! Chama-se Lueji
b Que nome lindo
b Vou visitar-vos na {dia}

a Recebeste a encomenda?
b Recebi, chegou tudo bem
a Ainda bem, estava preocupada

b A luz voltou?
a Voltou agora mesmo
b Aqui ainda nada
a Paciência…

a Quanto custa o bilhete?
b {money}, mas na {dia} é mais barato
a Então vou na {dia}

b Podes mandar o documento outra vez?
a Mando já
a Enviado
b Chegou, obrigado`,
  en: `a Hey, are you around?
b Just got home, what's up?
a Nothing urgent, call me when you can

b How was the trip?
a Long, but the food was worth it
b Let me guess: {food}
a Three days in a row 😄

a Can we move it to {weekday}?
b Works for me, same time?
a {hour} if that's fine
b See you then

b Did {name} get the papers?
a Yes, signed this morning
b Great, one thing less

a The network here is so slow today
b Same, nothing but text goes through
a Text is enough

b Happy birthday!! 🎂
a Thank you! You remembered
b I always do
a Come by on {weekday}, there will be cake

a What's the address again?
b Second street after the church in {place}
a Found it, thanks`,
};

const parse = (text) => text.split("\n\n").map((exchange) => exchange.split("\n"));
const exchanges = Object.fromEntries(Object.entries(bank).map(([language, text]) => [language, parse(text)]));

/** Pseudo-random generator (mulberry32), so that a second run produces the same lines. */
function createRandom(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/**
 * Creates at least `count` lines such as "a Bonjour", the same for the same seed. Exchanges are shuffled; when all were
 * used they repeat with other words.
 */
export function makeLines(languages, count, seed) {
  const random = createRandom(seed);
  const lines = [];
  let left = [];
  while (lines.length < count) {
    if (left.length === 0) left = languages.flatMap((language) => exchanges[language]);
    const [exchange] = left.splice(random(left.length), 1);
    const chosen = Object.fromEntries(Object.entries(words).map(([kind, list]) => [kind, list[random(list.length)]]));
    // Either person may start.
    const isSwapped = random(2) === 1;
    for (const line of exchange) {
      const speaker = (line[0] === "a") !== isSwapped ? "a" : "b";
      lines.push(speaker + line.slice(1).replace(/\{(\w+)\}/g, (_, kind) => chosen[kind]));
    }
  }
  return lines;
}
