import type { DatabaseSync } from "node:sqlite";
import { createUuid } from "../contract/ids";
import { seedCrowd } from "../tests/support/crowd";
import { hasTable, lookInto } from "../tests/support/databases";
import type { Person } from "../tests/support/people";
import type { Server } from "../tests/support/server";

const names = [
  "Grâce Mbuyi",
  "Patrick Ilunga",
  "Béatrice Kabongo",
  "Jean-Pierre Tshibangu",
  "Divine Ngalula",
  "Papa Wemba Junior",
  "Merveille Kasongo",
];
/** Statuses as people write them, 40 to 110 characters. */
const texts = [
  "Bonne journée à tous, que Dieu vous bénisse 🙏",
  "Marché de la Liberté : le sac de riz est à 45 000 FC ce matin. Qui connaît moins cher ?",
  "Enfin diplômée ! Cinq ans à l'UNIKIN, merci papa, merci maman. Ce soir on fête ça à Lemba 🎉🎉",
  "Embouteillage monstre au rond-point Ngaba, prenez par Kalamu si vous pouvez.",
  "Le courant est revenu ! Jusqu'à quand ? 😂",
  "Ma grand-mère disait toujours : « Mbongo ezali mayi », l'argent coule comme l'eau, gardez-en un peu.",
  "Je cherche un bon mécanicien à Limete pour une Toyota, laissez vos contacts s'il vous plaît.",
];

const randomText = (bytes: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url");
const thumbBytes = 21; // of a photograph with several colours

function writeInto(directory: DatabaseSync, authors: readonly Person[], posts: number): boolean {
  if (!hasTable(directory, "tala_posts")) return false;
  directory.exec("BEGIN");
  const profile = directory.prepare("UPDATE profiles SET username = ?, avatar_url = ? WHERE id = ?");
  for (const [i, { id }] of authors.entries()) {
    profile.run(names[i % names.length] ?? "", `${id}_${1_763_000_000_000 + i}_${randomText(16)}.webp`, id);
  }
  const insert = directory.prepare(
    "INSERT INTO tala_posts (id, user_id, content, width, height, thumb, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const since = Date.now() - posts * 60_000;
  for (let i = 0; i < posts; i++) {
    const at = since + i * 60_000;
    const author = authors[(i * 7_919) % authors.length]?.id ?? "";
    insert.run(createUuid(at), author, texts[i % texts.length] ?? "", 1_280, 960, randomText(thumbBytes), at);
  }
  directory.exec("COMMIT");
  return true;
}

/** So many people, who published so many statuses, each with a picture's thumbhash: put into the directory while the server is down. */
export async function seedFeed(server: Server, people: number, posts: number): Promise<[Person, ...Person[]]> {
  const authors = await seedCrowd(server, people);
  await server.kill();
  if (!lookInto(server.state, "d1", (database) => writeInto(database, authors, posts))) throw new Error("no directory");
  await server.restart();
  return authors;
}
