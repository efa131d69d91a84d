import { useState } from 'react';
import { useMutation } from 'urql';
import {
  type ConversationRowFragment,
  CreateTagDocument,
  InboxTagsDocument,
  UpdateConversationDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useAll } from '../ui/use-all.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { tagsOf } from './list-head.tsx';
import { Notes } from './notes.tsx';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Side panel: the contact, tags and internal notes. */
export function Details({ conversation, isOpen, onClose }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const { contact, channel } = conversation;
  return (
    <aside className={isOpen ? 'details open' : 'details'} aria-label={t('details.title')}>
      <button type="button" className="icon-button details-close" aria-label={t('close')} onClick={onClose}>
        <Icon name="close" />
      </button>
      <section>
        <h3>{t('details.contact')}</h3>
        <p className="details-name">{contact?.displayName}</p>
        <p>
          <bdi>{contact?.phone}</bdi>
        </p>
        {channel && (
          <p className="muted small">
            {t('details.channel')}: {channel.name} <bdi>{channel.displayPhoneNumber}</bdi>
          </p>
        )}
      </section>
      <Tags conversation={conversation} />
      {can('NOTES_READ') && <Notes conversationId={conversation.id} />}
    </aside>
  );
}

function Tags({ conversation }: { readonly conversation: ConversationRowFragment }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const { rows: all = [], reload } = useAll({ query: InboxTagsDocument, connectionOf: tagsOf });
  const [result, update] = useMutation(UpdateConversationDocument);
  const [created, create] = useMutation(CreateTagDocument);
  const [name, setName] = useState<string>();
  const { id, tags } = conversation;
  const add = async (text: string): Promise<void> => {
    const { data: made } = await create({ input: { name: text } });
    const tag = made?.createTag?.tag;
    if (!tag) return;
    setName(undefined);
    reload();
    await update({ input: { id, addTagIds: [tag.id] } });
  };
  return (
    <section>
      <h3>{t('details.tags')}</h3>
      <div className="tags">
        {tags.map(tag => (
          <span key={tag.id} className="tag">
            <i className="dot" style={{ background: tag.color }} />
            {tag.name}
            {can('CONVERSATIONS_WRITE') && (
              <button
                type="button"
                aria-label={t('details.removeTag', { name: tag.name })}
                onClick={() => void update({ input: { id, removeTagIds: [tag.id] } })}
              >
                <Icon name="close" size={13} />
              </button>
            )}
          </span>
        ))}
        {can('CONVERSATIONS_WRITE') && name === undefined && (
          <Menu
            label={t('details.addTag')}
            buttonClass="tag add"
            onOpen={reload}
            button={
              <>
                <Icon name="plus" size={14} /> {t('details.addTag')}
              </>
            }
            items={[
              ...all
                .filter(tag => !tags.some(each => each.id === tag.id))
                .map(tag => ({
                  id: tag.id,
                  label: (
                    <>
                      <i className="dot" style={{ background: tag.color }} /> {tag.name}
                    </>
                  ),
                  onSelect: () => void update({ input: { id, addTagIds: [tag.id] } }),
                })),
              { id: 'new', label: t('details.newTag'), onSelect: () => setName('') },
            ]}
          />
        )}
        {name !== undefined && (
          <form
            className="tag-form"
            onSubmit={event => {
              event.preventDefault();
              if (name.trim() === '') setName(undefined);
              else void add(name.trim());
            }}
          >
            <input
              ref={element => element?.focus()}
              aria-label={t('details.newTag')}
              value={name}
              onChange={event => setName(event.target.value)}
              onKeyDown={event => {
                if (event.key === 'Escape') setName(undefined);
              }}
            />
          </form>
        )}
      </div>
      <UserErrors
        errors={[
          ...(result.data?.updateConversation?.userErrors ?? []),
          ...(created.data?.createTag?.userErrors ?? []),
        ]}
        failure={result.error ?? created.error}
      />
    </section>
  );
}
