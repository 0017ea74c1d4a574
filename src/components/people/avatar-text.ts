/** Person data of an avatar; `avatar` is a key of the avatars bucket. A local person row is compatible. */
export type AvatarPerson = {
  username: string;
  phone: string;
  avatar: string | null;
  deleted?: 1 | undefined;
  /** Id of a group, whose colour stays when its name changes. */
  groupId?: string | undefined;
};

/** Shown for a person who is not loaded. */
export const unknownPerson: AvatarPerson = { username: "", phone: "", avatar: null };

/** Hues that keep a contrast of 4.5:1, as a disc behind white text and as the colour of a sender's name. */
export const avatarHues = [322, 350, 14, 32, 165, 190, 212, 250, 280];

/** Seed of the initials and, of a person, the colour (SPEC.md §3): username, else phone, else the word User. */
export const getAvatarSeed = (person: AvatarPerson): string => person.username.trim() || person.phone.trim() || "User";

export const getInitials = (seed: string): string => {
  const words = seed.split(/[\s._-]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const letters = words.map((word) => [...word.replace(/^[^\p{L}\p{N}]+/u, "")][0] ?? "");
  return (letters.length > 1 ? `${letters[0]}${letters.at(-1)}` : (letters[0] ?? "U")).toUpperCase();
};

const toHue = (seed: string): number => {
  let hash = 0;
  for (const char of seed) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
  return avatarHues[hash % avatarHues.length] ?? 322;
};

/** Hue of a person or group, for the avatar disc and the sender's name in a group. */
export const toPersonHue = (person: AvatarPerson): number => toHue(person.groupId ?? getAvatarSeed(person));

/** Avatar data of a group. */
export const toAvatarPerson = (
  { name, picture }: { name: string; picture: string | null },
  groupId: string,
): AvatarPerson => ({ username: name, phone: "", avatar: picture, groupId });
