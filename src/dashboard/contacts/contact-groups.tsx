import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  CreateGroupDocument,
  GroupsToJoinDocument,
  JoinGroupDocument,
  LeaveGroupDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { UserErrors } from '../ui/user-errors.tsx';

interface Group {
  readonly id: string;
  readonly name: string;
}

interface Props {
  readonly contactId: string;
  readonly groups: readonly Group[];
  readonly onChanged: () => void;
}

/** The groups of a contact: leave one, join one, or join a new one. */
export function ContactGroups({ contactId, groups, onChanged }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const mayChange = can('GROUPS_WRITE', 'GROUPS_READ');
  const [joined, join] = useMutation(JoinGroupDocument);
  const [left, leave] = useMutation(LeaveGroupDocument);
  const [created, create] = useMutation(CreateGroupDocument);
  const [isAdding, setAdding] = useState(false);
  const [text, setText] = useState('');
  const [{ data }] = useQuery({
    query: GroupsToJoinDocument,
    variables: { search: text || undefined },
    pause: !isAdding,
    requestPolicy: 'cache-and-network',
  });
  const others = (data?.contactGroups?.nodes ?? []).filter(({ id }) => !groups.some(group => group.id === id));
  const add = async (groupId: string): Promise<void> => {
    await join({ input: { groupId, contactIds: [contactId] } });
    setText('');
    setAdding(false);
    onChanged();
  };
  const addNew = async (): Promise<void> => {
    const { data: made } = await create({ input: { name: text.trim() } });
    const group = made?.createContactGroup?.contactGroup;
    if (group) await add(group.id);
  };
  const isNew = text.trim() !== '' && !others.some(({ name }) => name.toLowerCase() === text.trim().toLowerCase());
  return (
    <section>
      <h3>{t('contacts.groups')}</h3>
      <div className="tags">
        {groups.map(({ id, name }) => (
          <span key={id} className="tag">
            {name}
            {mayChange && (
              <button
                type="button"
                aria-label={t('groups.leave', { name })}
                onClick={() => void leave({ input: { groupId: id, contactIds: [contactId] } }).then(onChanged)}
              >
                <Icon name="close" size={12} />
              </button>
            )}
          </span>
        ))}
        {groups.length === 0 && !mayChange && <span className="muted small">{t('none')}</span>}
        {mayChange && !isAdding && (
          <button type="button" className="tag add" onClick={() => setAdding(true)}>
            <Icon name="plus" size={13} /> {t('groups.add')}
          </button>
        )}
      </div>
      {isAdding && (
        <div className="picker">
          <input
            // biome-ignore lint/a11y/noAutofocus: the field appears because its button was pressed
            autoFocus
            aria-label={t('groups.find')}
            placeholder={t('groups.find')}
            value={text}
            onChange={event => setText(event.target.value)}
            onKeyDown={event => {
              if (event.key === 'Escape') setAdding(false);
            }}
          />
          <ul className="picker-list">
            {others.slice(0, 8).map(({ id, name }) => (
              <li key={id}>
                <button type="button" className="menu-item" onClick={() => void add(id)}>
                  {name}
                </button>
              </li>
            ))}
            {isNew && (
              <li>
                <button type="button" className="menu-item" onClick={() => void addNew()}>
                  <Icon name="plus" size={16} /> {t('groups.create', { name: text.trim() })}
                </button>
              </li>
            )}
          </ul>
        </div>
      )}
      <UserErrors
        errors={[
          ...(joined.data?.addContactsToGroup?.userErrors ?? []),
          ...(left.data?.removeContactsFromGroup?.userErrors ?? []),
          ...(created.data?.createContactGroup?.userErrors ?? []),
        ]}
        failure={joined.error ?? left.error ?? created.error}
      />
    </section>
  );
}
