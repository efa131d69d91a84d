import { type FormEvent, useState } from 'react';
import { useMutation } from 'urql';
import {
  type ConsentCategory,
  type ConsentSource,
  type ConsentState,
  type ContactDetailsQuery,
  RecordConsentDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Select } from '../ui/select.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

type Contact = NonNullable<ContactDetailsQuery['contact']>;

const CATEGORIES = ['ALL', 'MARKETING', 'UTILITY'] as const satisfies readonly ConsentCategory[];
const STATES = ['OPTED_IN', 'OPTED_OUT'] as const satisfies readonly ConsentState[];
/** Sources that staff can record; the gateway itself records the others. */
const SOURCES = ['STAFF', 'PAGE', 'IMPORT', 'API'] as const satisfies readonly ConsentSource[];

/** Current consent of a contact, and its history with evidence. */
export function ContactConsent({ contact }: { readonly contact: Contact }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [isRecording, setRecording] = useState(false);
  const [isHistory, setHistory] = useState(false);
  const { nodes = [], totalCount = 0 } = contact.consentEntries ?? {};
  return (
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
        {contact.consents.length === 0 && <li className="muted small">{t('consent.none')}</li>}
      </ul>
      <div className="button-row">
        {can('CONTACTS_WRITE') && !isRecording && (
          <button type="button" className="button small" onClick={() => setRecording(true)}>
            <Icon name="plus" size={16} /> {t('consent.record')}
          </button>
        )}
        {totalCount > 0 && (
          <button
            type="button"
            className="button small"
            aria-expanded={isHistory}
            onClick={() => setHistory(!isHistory)}
          >
            <Icon name="clock" size={16} /> {t('consent.history', { count: totalCount })}
          </button>
        )}
      </div>
      {isRecording && <RecordConsent contactId={contact.id} onClose={() => setRecording(false)} />}
      {isHistory && (
        <ol className="history" aria-label={t('consent.history', { count: totalCount })}>
          {nodes.map(({ id, category, state, source, evidence, occurredAt, author }) => (
            <li key={id}>
              <i className={state === 'OPTED_OUT' ? 'dot danger' : 'dot good'} />
              <div>
                <p>
                  {t(`consent.${category}`)}: <strong>{t(`consent.${state}`)}</strong>
                </p>
                <p className="muted small">
                  {dates.full(occurredAt)} · {t(`consentSource.${source}`)}
                  {author && (
                    <>
                      {' · '}
                      <bdi>{author.displayName}</bdi>
                    </>
                  )}
                </p>
                {evidence && (
                  <p className="small evidence">
                    <bdi>{evidence}</bdi>
                  </p>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function RecordConsent({ contactId, onClose }: { readonly contactId: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [{ data, error, fetching }, record] = useMutation(RecordConsentDocument);
  const [category, setCategory] = useState<ConsentCategory>('MARKETING');
  const [state, setState] = useState<ConsentState>('OPTED_IN');
  const [source, setSource] = useState<ConsentSource>('STAFF');
  const [evidence, setEvidence] = useState('');
  const errors = data?.recordConsent?.userErrors ?? [];
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const input = { contactId, category, state, source, evidence: evidence.trim() || undefined };
    const { data: done } = await record({ input });
    if (done?.recordConsent?.consentEntry) onClose();
  };
  return (
    <form className="form inset" onSubmit={event => void submit(event)}>
      <div className="form-row">
        <Select label={t('consent.category')} value={category} onChange={each => setCategory(each as ConsentCategory)}>
          {CATEGORIES.map(each => (
            <option key={each} value={each}>
              {t(`consent.${each}`)}
            </option>
          ))}
        </Select>
        <Select label={t('consent.state')} value={state} onChange={each => setState(each as ConsentState)}>
          {STATES.map(each => (
            <option key={each} value={each}>
              {t(`consent.${each}`)}
            </option>
          ))}
        </Select>
        <Select label={t('consent.source')} value={source} onChange={each => setSource(each as ConsentSource)}>
          {SOURCES.map(each => (
            <option key={each} value={each}>
              {t(`consentSource.${each}`)}
            </option>
          ))}
        </Select>
      </div>
      <Field
        label={t('consent.evidence')}
        hint={t('consent.evidenceHint')}
        value={evidence}
        error={errorsOf(errors, 'evidence')}
        onChange={setEvidence}
      />
      <UserErrors errors={errors.filter(({ path }) => path?.[0] !== 'evidence')} failure={error} />
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <button type="submit" className="button primary" disabled={fetching}>
          {t('save')}
        </button>
      </div>
    </form>
  );
}
