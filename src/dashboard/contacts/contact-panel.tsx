import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { Link } from 'wouter';
import { ContactDetailsDocument, EraseContactDocument, UpdateContactDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { CONTACT_FIELDS, ContactForm, type ContactValues } from './contact-form.tsx';

/** One contact: fields to edit, consent, conversations, and erasure with its receipt. */
export function ContactPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [{ data, fetching }] = useQuery({
    query: ContactDetailsDocument,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const [saved, update] = useMutation(UpdateContactDocument);
  const [isErasing, setErasing] = useState(false);
  const contact = data?.contact;
  const errors = saved.data?.updateContact?.userErrors ?? [];
  if (!contact)
    return (
      <aside className="panel" aria-busy={fetching} aria-label={t('details.contact')}>
        {!fetching && <p className="muted">{t('contacts.missing')}</p>}
      </aside>
    );
  const initial = Object.fromEntries(CONTACT_FIELDS.map(name => [name, contact[name] ?? ''])) as ContactValues;
  const save = (values: ContactValues): void => {
    const changed = CONTACT_FIELDS.filter(name => values[name] !== initial[name]);
    if (changed.length === 0) return;
    const set = Object.fromEntries(changed.map(name => [name, values[name] === '' ? null : values[name]]));
    // As this page shows it: what somebody else changed meanwhile is not overwritten.
    void update({ input: { id: contact.id, unchangedSince: contact.updatedAt, ...set } });
  };
  return (
    <aside className="panel" aria-label={contact.displayName}>
      <header className="panel-head">
        <Avatar name={contact.displayName} />
        <h2 className="ellipsis">{contact.displayName}</h2>
        <button type="button" className="icon-button" aria-label={t('close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <ContactForm
        key={contact.updatedAt}
        initial={initial}
        errors={errors}
        onSubmit={save}
        isReadOnly={!can('CONTACTS_WRITE')}
        footer={
          <>
            <UserErrors
              errors={errors.filter(({ path }) => !CONTACT_FIELDS.some(name => name === path?.[0]))}
              failure={saved.error}
            />
            {can('CONTACTS_WRITE') && (
              <div className="dialog-foot">
                {saved.data?.updateContact?.contact && <span className="chip good">{t('saved')}</span>}
                <button type="submit" className="button primary" disabled={saved.fetching}>
                  {t('save')}
                </button>
              </div>
            )}
          </>
        }
      />
      <section>
        <h3>{t('contacts.groups')}</h3>
        <div className="tags">
          {contact.groups.map(group => (
            <span key={group.id} className="tag">
              {group.name}
            </span>
          ))}
          {contact.groups.length === 0 && <span className="muted small">{t('none')}</span>}
        </div>
      </section>
      <section>
        <h3>{t('contacts.consent')}</h3>
        <ul className="facts">
          {contact.consents.map(({ category, state, updatedAt }) => (
            <li key={category}>
              <span>{t(`consent.${category}`)}</span>
              <span className={state === 'OPTED_OUT' ? 'chip danger' : 'chip good'}>{t(`consent.${state}`)}</span>
              <span className="muted small">{updatedAt && dates.full(updatedAt)}</span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>{t('inbox.list')}</h3>
        <ul className="facts">
          {contact.conversations?.nodes.map(conversation => (
            <li key={conversation.id}>
              <Link href={`/inbox/${conversation.databaseId}?status=all`} className="ellipsis">
                {conversation.lastMessage?.previewText ?? t('inbox.list')}
              </Link>
            </li>
          ))}
        </ul>
      </section>
      {can('CONTACTS_DELETE') && (
        <section>
          <button type="button" className="button danger small" onClick={() => setErasing(true)}>
            <Icon name="trash" size={16} /> {t('contacts.erase')}
          </button>
        </section>
      )}
      {isErasing && (
        <EraseDialog id={contact.id} name={contact.displayName} onClose={() => setErasing(false)} onErased={onClose} />
      )}
    </aside>
  );
}

interface EraseProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
  readonly onErased: () => void;
}

function EraseDialog({ id, name, onClose, onErased }: EraseProps) {
  const { t } = useTexts();
  const [{ data, error, fetching }, erase] = useMutation(EraseContactDocument);
  const receipt = data?.eraseContact?.erasureReceipt;
  return (
    <Dialog title={t('contacts.eraseTitle', { name })} onClose={receipt ? onErased : onClose}>
      {receipt ? (
        <div className="form">
          <p className="notice good">{t('contacts.erased')}</p>
          <ul className="facts">
            {receipt.erased.map(({ kind, count }) => (
              <li key={kind}>
                <span>{kind}</span>
                <span>{count}</span>
              </li>
            ))}
          </ul>
          <p className="muted small">
            {t('contacts.digest')}: <code>{receipt.subjectDigest.slice(0, 24)}…</code>
          </p>
        </div>
      ) : (
        <div className="form">
          <p>{t('contacts.eraseText')}</p>
          <UserErrors errors={data?.eraseContact?.userErrors ?? []} failure={error} />
          <div className="dialog-foot">
            <button type="button" className="button" onClick={onClose}>
              {t('cancel')}
            </button>
            <button
              type="button"
              className="button danger"
              disabled={fetching}
              onClick={() => void erase({ input: { id, reason: 'SUBJECT_REQUEST' } })}
            >
              {t('contacts.erase')}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
