import type { ReactNode } from 'react';

/** Text between these marks, as WhatsApp shows it. A mark stands at the edge of a word. */
const MARKED =
  /(?<![\p{L}\p{N}])(\*[^\s*](?:[^*\n]*[^\s*])?\*|_[^\s_](?:[^_\n]*[^\s_])?_|~[^\s~](?:[^~\n]*[^\s~])?~|`[^`\n]+`|https?:\/\/[^\s<>"]+)(?![\p{L}\p{N}])/u;

/** Shows bold, italics, code and links as WhatsApp does. */
export const WhatsAppText = ({ text }: { readonly text: string }) => (
  <p className="message-text" dir="auto">
    {parts(text)}
  </p>
);

function parts(text: string): ReactNode[] {
  return text.split(MARKED).map((part, index) => {
    if (index % 2 === 0) return part;
    const inner = part.slice(1, -1);
    const key = `${index}${part}`;
    switch (part[0]) {
      case '*':
        return <strong key={key}>{inner}</strong>;
      case '_':
        return <em key={key}>{inner}</em>;
      case '~':
        return <s key={key}>{inner}</s>;
      case '`':
        return <code key={key}>{inner}</code>;
      default:
        return (
          <a key={key} href={part} target="_blank" rel="noreferrer">
            {part}
          </a>
        );
    }
  });
}
