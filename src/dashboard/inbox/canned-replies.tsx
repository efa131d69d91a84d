import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { ComposerRepliesDocument, type ComposerRepliesQuery } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';

export type CannedReply = NonNullable<ComposerRepliesQuery['cannedReplies']>['nodes'][number];

interface Props {
  /** Text of the composer: `/` and the start of a shortcut open the list. */
  readonly text: string;
  readonly onChoose: (reply: CannedReply) => void;
}

const TYPED = /^\/(\S*)$/;

/** Prepared answers, found by what is typed after a slash. */
export function CannedReplies({ text, onChoose }: Props) {
  const { t } = useTexts();
  const typed = TYPED.exec(text)?.[1];
  const [chosen, setChosen] = useState({ typed, index: 0 });
  // Another text, another list.
  const active = chosen.typed === typed ? chosen.index : 0;
  const setActive = (index: number): void => setChosen({ typed, index });
  const [{ data }] = useQuery({
    query: ComposerRepliesDocument,
    pause: typed === undefined,
    requestPolicy: 'cache-and-network',
  });
  const replies = (data?.cannedReplies?.nodes ?? []).filter(
    ({ shortcut, title }) =>
      typed !== undefined &&
      (shortcut.toLowerCase().startsWith(typed.toLowerCase()) || title.toLowerCase().includes(typed.toLowerCase())),
  );
  const isOpen = typed !== undefined && replies.length > 0;
  useEffect(() => {
    if (!isOpen) return;
    // Before the text field, which would send what is typed.
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'ArrowDown') setActive((active + 1) % replies.length);
      else if (event.key === 'ArrowUp') setActive((active + replies.length - 1) % replies.length);
      else if (event.key === 'Enter' || event.key === 'Tab') {
        const reply = replies[active];
        if (reply) onChoose(reply);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  });
  if (typed === undefined) return null;
  if (!isOpen) return <p className="canned muted small">{t('composer.noReplies')}</p>;
  return (
    <ul className="canned" aria-label={t('composer.replies')}>
      {replies.map((reply, index) => (
        <li key={reply.id}>
          <button
            type="button"
            className={index === active ? 'canned-reply active' : 'canned-reply'}
            onClick={() => onChoose(reply)}
          >
            <kbd>/{reply.shortcut}</kbd> {reply.title}
          </button>
        </li>
      ))}
    </ul>
  );
}
