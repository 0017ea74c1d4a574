/** QR code drawn by the server, on white in every theme, as cameras need it. */
export function QrCode({ svg, label }: { svg: string; label: string }) {
  return (
    <img
      src={`data:image/svg+xml;utf-8,${encodeURIComponent(svg)}`}
      alt={label}
      width={200}
      height={200}
      className="size-50 self-center rounded-card border border-line bg-white"
    />
  );
}
