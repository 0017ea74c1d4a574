import { ProtectedImage } from "#components/images/protected-image.tsx";

/** Person data of an avatar; `avatar` is a key of the avatars bucket. A local person row is compatible. */
export type AvatarPerson = { username: string; phone: string; avatar: string | null; deleted?: 1 | undefined };

type AvatarProps = {
  person: AvatarPerson;
  size?: number;
  isSquare?: boolean;
  /** Only the first initial. */
  hasSingleInitial?: boolean;
};

const servedPx = { small: 50, large: 512 } as const;
/** Hues that keep a contrast of 4.5:1, as a disc behind white text and as the colour of a sender's name. */
export const avatarHues = [322, 350, 14, 32, 165, 190, 212, 250, 280];

/** Seed of colour and initials (SPEC.md §3): username, else phone, else the word User. */
const getAvatarSeed = (person: AvatarPerson): string => person.username.trim() || person.phone.trim() || "User";

const getInitials = (seed: string): string => {
  const words = seed.split(/[\s._-]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const letters = words.map((word) => [...word.replace(/^[^\p{L}\p{N}]+/u, "")][0] ?? "");
  return (letters.length > 1 ? `${letters[0]}${letters.at(-1)}` : (letters[0] ?? "U")).toUpperCase();
};

const toHue = (seed: string): number => {
  let hash = 0;
  for (const char of seed) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
  return avatarHues[hash % avatarHues.length] ?? 322;
};

/** Hue of a person, for the avatar disc and the sender's name in a group. */
export const toPersonHue = (person: AvatarPerson): number => toHue(getAvatarSeed(person));

/** Avatar data of a group. */
export const toAvatarPerson = ({ name, picture }: { name: string; picture: string | null }): AvatarPerson => ({
  username: name,
  phone: "",
  avatar: picture,
});

/** Avatar of a deleted account. */
function DeletedAccountAvatar({ size, isSquare }: { size: number; isSquare: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={`inline-grid shrink-0 place-items-center bg-raised text-muted ${isSquare ? "rounded-bubble" : "rounded-full"}`}
      style={{ width: size, height: size }}
    >
      <span className="i-ph-user-circle-dashed" style={{ fontSize: size * 0.6 }} />
    </span>
  );
}

/**
 * Avatar as a disc, or as a rounded square when enlarged. Initials on a coloured background are shown until the picture
 * is loaded and if there is none.
 *
 * Decorative: the name is always shown next to it.
 */
export function Avatar({ person, size = 50, isSquare = false, hasSingleInitial = false }: AvatarProps) {
  if (person.deleted) return <DeletedAccountAvatar size={size} isSquare={isSquare} />;
  const seed = getAvatarSeed(person);
  const initials = getInitials(seed);
  const key = person.avatar;
  const served = size <= servedPx.small ? servedPx.small : servedPx.large;
  return (
    <span
      aria-hidden="true"
      data-initials={hasSingleInitial ? [...initials][0] : initials}
      className={`relative inline-grid shrink-0 place-items-center overflow-hidden font-semibold text-white select-none before:content-[attr(data-initials)] ${isSquare ? "rounded-bubble" : "rounded-full"}`}
      style={{ width: size, height: size, fontSize: size * 0.38, backgroundColor: `hsl(${toHue(seed)} 45% 35%)` }}
    >
      {key && (
        <ProtectedImage
          src={`/api/avatars/${encodeURIComponent(key)}?size=${served}`}
          alt=""
          width={size}
          height={size}
          loading="lazy"
          decoding="async"
          draggable={false}
          className="absolute inset-0 size-full object-cover"
        />
      )}
    </span>
  );
}
