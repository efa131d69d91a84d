/** Hues of equal lightness, so that white letters stand out on each. */
const HUES = 8;

const initials = (name: string): string => {
  const words = name.replace(/^\+/, '').split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words[words.length - 1]] : [words[0]];
  return letters
    .map(word => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase();
};

export function Avatar({ name, size = 'medium' }: { readonly name: string; readonly size?: 'small' | 'medium' }) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9_973;
  return (
    <span
      className={`avatar ${size} hue-${sum % HUES}`}
      aria-hidden="true"
      // Decoration, not text: the name stands beside it.
      data-initials={/^\+?\d/.test(name) ? name.slice(-2) : initials(name)}
    />
  );
}
