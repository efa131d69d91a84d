import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { Link } from 'wouter';
import { ContactDetailsDocument, UndoMergeDocument, UpdateContactDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';
import { presentTime } from '../ui/now.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { ContactConsent } from './contact-consent.tsx';
import { ContactCost } from './contact-cost.tsx';
import { CONTACT_FIELDS, type ContactEdits, ContactForm, type ContactValues } from './contact-form.tsx';
import { ContactGroups } from './contact-groups.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import { ExportPersonDialog } from './export-dialog.tsx';

interface Props {
  readonly id: string;
  readonly onClose: () => void;
  readonly onOpen: (databaseId: string) => void;
  /** The contact is no longer in the list, or another one is. */
  readonly onGone: () => void;
}

/** One contact: fields to edit, groups, consent with its history, conversations, cost; export, and erasure with its receipt. */
export function ContactPanel({ id, onClose, onOpen, onGone }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [{ data, fetching }, refetch] = useQuery({
    query: ContactDetailsDocument,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const [saved, update] = useMutation(UpdateContactDocument);
  const [undone, undo] = useMutation(UndoMergeDocument);
  const [dialog, setDialog] = useState<'erase' | 'export'>();
  const contact = data?.contact;
  const errors = saved.data?.updateContact?.userErrors ?? [];
  const closeButton = (
    <button type="button" className="icon-button" aria-label={t('close')} onClick={onClose}>
      <Icon name="close" />
    </button>
  );
  if (!contact)
    return (
      <aside className="panel" aria-busy={fetching} aria-label={t('details.contact')}>
        {!fetching && (
          <header className="panel-head">
            <p className="muted">{t('contacts.missing')}</p>
            {closeButton}
          </header>
        )}
      </aside>
    );
  const initial = Object.fromEntries(CONTACT_FIELDS.map(name => [name, contact[name] ?? ''])) as ContactValues;
  const save = async (values: ContactValues, edits: ContactEdits): Promise<boolean> => {
    const changed = CONTACT_FIELDS.filter(name => values[name] !== initial[name]);
    if (changed.length === 0) return true;
    const set = Object.fromEntries(changed.map(name => [name, values[name] === '' ? null : values[name]]));
    // The values that this page showed, so that a concurrent change of the same fields is not overwritten.
    const overtaken = changed.find(name => edits[name]?.before !== initial[name]);
    const unchangedSince = (overtaken && edits[overtaken]?.version) ?? contact.updatedAt;
    const { data: done } = await update({ input: { id: contact.id, unchangedSince, ...set } });
    return done?.updateContact?.contact != null;
  };
  return (
    <aside className="panel" aria-label={contact.displayName}>
      <header className="panel-head">
        <Avatar name={contact.displayName} />
        <h2 className="ellipsis" dir="auto">
          {contact.displayName}
        </h2>
        {closeButton}
      </header>
      <ContactForm
        initial={initial}
        version={contact.updatedAt}
        errors={errors}
        onSubmit={save}
        isReadOnly={!can('CONTACTS_WRITE')}
        footer={isEdited => (
          <>
            <UserErrors
              errors={errors.filter(({ path }) => !CONTACT_FIELDS.some(name => name === path?.[0]))}
              failure={saved.error}
            />
            {can('CONTACTS_WRITE') && (
              <div className="dialog-foot">
                {saved.data?.updateContact?.contact && !isEdited && <span className="chip good">{t('saved')}</span>}
                <button type="submit" className="button primary" disabled={saved.fetching}>
                  {t('save')}
                </button>
              </div>
            )}
          </>
        )}
      />
      <ContactGroups
        contactId={contact.id}
        groups={contact.groups}
        onChanged={() => refetch({ requestPolicy: 'network-only' })}
      />
      <ContactConsent contact={contact} />
      <section>
        <h3>{t('inbox.list')}</h3>
        <ul className="facts">
          {contact.conversations?.nodes.map(({ id: key, databaseId, lastMessage, lastActivityAt }) => (
            <li key={key}>
              <Link href={`/inbox/${databaseId}?status=all`} className="ellipsis fact-link" dir="auto">
                {lastMessage?.previewText ?? t('inbox.list')}
              </Link>
              {lastActivityAt && <span className="muted small">{dates.brief(lastActivityAt, presentTime())}</span>}
            </li>
          ))}
          {contact.conversations?.nodes.length === 0 && <li className="muted small">{t('contacts.noConversation')}</li>}
        </ul>
      </section>
      <ContactCost contactId={contact.id} />
      {contact.formerIds.length > 0 && can('CONTACTS_WRITE') && (
        <section>
          <h3>{t('contacts.merged', { count: contact.formerIds.length })}</h3>
          <div className="button-row">
            {contact.formerIds.map((formerId, index) => (
              <button
                key={formerId}
                type="button"
                className="button small"
                disabled={undone.fetching}
                onClick={() =>
                  void undo({ input: { id: formerId } }).then(({ data: done }) => {
                    const restored = done?.undoMerge?.contact;
                    if (!restored) return;
                    onGone();
                    onOpen(restored.databaseId);
                  })
                }
              >
                <Icon name="replay" size={16} /> {t('contacts.undoMerge', { number: index + 1 })}
              </button>
            ))}
          </div>
          <UserErrors errors={undone.data?.undoMerge?.userErrors ?? []} failure={undone.error} />
        </section>
      )}
      <section>
        <div className="button-row">
          {can('CONTACTS_EXPORT', 'CONTACTS_READ') && (
            <button type="button" className="button small" onClick={() => setDialog('export')}>
              <Icon name="download" size={16} /> {t('export.ofPerson')}
            </button>
          )}
          {can('CONTACTS_DELETE') && (
            <button type="button" className="button danger-quiet small" onClick={() => setDialog('erase')}>
              <Icon name="trash" size={16} /> {t('contacts.erase')}
            </button>
          )}
        </div>
      </section>
      {dialog === 'erase' && (
        <EraseDialog
          id={contact.id}
          name={contact.displayName}
          onClose={() => setDialog(undefined)}
          onErased={() => {
            onGone();
            onClose();
          }}
        />
      )}
      {dialog === 'export' && (
        <ExportPersonDialog id={contact.id} name={contact.displayName} onClose={() => setDialog(undefined)} />
      )}
    </aside>
  );
}
