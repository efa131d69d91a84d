import type { ThreadMessageFragment } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useDraft } from './draft.ts';

/** The most frequent reactions. */
const EMOJIS = ['👍', '❤️', '😂', '😮', '😢', '🙏'] as const;
/** Of a message that the network has. */
const REACHED: ReadonlySet<string> = new Set(['RECEIVED', 'SENT', 'DELIVERED', 'READ']);
/** Content types that cannot be quoted or reacted to. */
const SILENT: ReadonlySet<string> = new Set(['SystemContent', 'CallContent', 'ReactionContent']);

interface Props {
  readonly message: ThreadMessageFragment;
  readonly onReact: (emoji: string) => void;
}

/** Quotes a message in the answer, or reacts to it. */
export function MessageActions({ message, onReact }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const { quote } = useDraft();
  const { id, direction, previewText, reactions, status, revokedAt, content } = message;
  if (!can('MESSAGES_SEND') || revokedAt || !REACHED.has(status) || SILENT.has(content.__typename)) return null;
  const ours = reactions.find(reaction => reaction.direction === 'OUTBOUND')?.emoji;
  return (
    <div className="message-actions">
      <button
        type="button"
        className="icon-button small"
        aria-label={t('message.quote')}
        title={t('message.quote')}
        onClick={() => quote({ id, isOurs: direction === 'OUTBOUND', text: previewText })}
      >
        <Icon name="reply" size={16} />
      </button>
      <Menu
        label={t('message.react')}
        buttonClass="icon-button small"
        button={<Icon name="smile" size={16} />}
        isRow
        isUp
        items={EMOJIS.map(emoji => ({
          id: emoji,
          label: emoji,
          isChecked: emoji === ours,
          onSelect: () => onReact(emoji === ours ? '' : emoji),
        }))}
      />
    </div>
  );
}
