import type { Colleague } from '../presence/use-colleagues.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';

/** More are counted. */
const SHOWN = 3;

/** Presence of colleagues in a conversation: viewing or typing. */
export function Colleagues({ colleagues }: { readonly colleagues: readonly Colleague[] }) {
  const { t } = useTexts();
  const typing = colleagues.filter(({ isTyping }) => isTyping);
  const named = typing.length > 0 ? typing : colleagues;
  const [first] = named;
  const text = first
    ? t(typing.length > 0 ? 'presence.typing' : 'presence.viewing', { name: first.name, count: named.length })
    : '';
  return (
    // Always there, so that a screen reader hears of changes.
    <div className={typing.length > 0 ? 'colleagues typing' : 'colleagues'} role="status" title={namesOf(colleagues)}>
      {first && (
        <>
          <span className="avatars">
            {colleagues.slice(0, SHOWN).map(({ id, name }) => (
              <Avatar key={id} name={name} size="small" />
            ))}
          </span>
          <span className="colleagues-text">{text}</span>
        </>
      )}
    </div>
  );
}

const namesOf = (colleagues: readonly Colleague[]): string | undefined =>
  colleagues.map(({ name }) => name).join(', ') || undefined;
