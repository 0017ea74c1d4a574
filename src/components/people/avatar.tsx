import { ProtectedImage } from "#components/images/protected-image.tsx";
import { type AvatarPerson, getAvatarSeed, getInitials, toPersonHue } from "./avatar-text.ts";

type AvatarProps = {
  person: AvatarPerson;
  size?: number;
  isSquare?: boolean;
  /** Only the first initial. */
  hasSingleInitial?: boolean;
};

const servedPx = { small: 50, large: 512 } as const;
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
  const initials = getInitials(getAvatarSeed(person));
  const key = person.avatar;
  const served = size <= servedPx.small ? servedPx.small : servedPx.large;
  return (
    <span
      aria-hidden="true"
      data-initials={hasSingleInitial ? [...initials][0] : initials}
      className={`relative inline-grid shrink-0 place-items-center overflow-hidden font-semibold text-white select-none before:content-[attr(data-initials)] ${isSquare ? "rounded-bubble" : "rounded-full"}`}
      style={{
        width: size,
        height: size,
        fontSize: size * 0.38,
        backgroundColor: `hsl(${toPersonHue(person)} 45% 35%)`,
      }}
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
