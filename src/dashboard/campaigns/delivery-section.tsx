import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { errorsOf, type UserError } from '../ui/user-errors.tsx';
import type { CampaignDraft } from './campaign-draft.ts';

interface Props {
  readonly draft: CampaignDraft;
  readonly errors: readonly UserError[];
  readonly onChange: (changes: Partial<CampaignDraft>) => void;
}

/** When and how fast it is sent, and what protects the number and the people. */
export function DeliverySection({ draft, errors, onChange }: Props) {
  const { t } = useTexts();
  const hoursError = errorsOf(errors, 'sendingHours');
  const capError = errorsOf(errors, 'frequencyCap');
  return (
    <section className="card">
      <h2>{t('delivery.title')}</h2>
      <div className="delivery">
        <fieldset className="option">
          <label className="check">
            <input
              type="checkbox"
              checked={draft.hasHours}
              onChange={event => onChange({ hasHours: event.target.checked })}
            />
            <span>
              <strong>{t('delivery.quiet')}</strong>
              <span className="muted small">{t('delivery.quietHint')}</span>
            </span>
          </label>
          {draft.hasHours && (
            <div className="inline-fields">
              <label className="field">
                <span>{t('delivery.from')}</span>
                <input
                  type="time"
                  value={draft.hoursStart}
                  aria-invalid={hoursError !== undefined || undefined}
                  onChange={event => onChange({ hoursStart: event.target.value })}
                />
              </label>
              <label className="field">
                <span>{t('delivery.to')}</span>
                <input
                  type="time"
                  value={draft.hoursEnd}
                  aria-invalid={hoursError !== undefined || undefined}
                  onChange={event => onChange({ hoursEnd: event.target.value })}
                />
              </label>
            </div>
          )}
          {hoursError && <p className="field-error">{hoursError}</p>}
        </fieldset>
        <fieldset className="option">
          <label className="check">
            <input
              type="checkbox"
              checked={draft.hasCap}
              onChange={event => onChange({ hasCap: event.target.checked })}
            />
            <span>
              <strong>{t('delivery.cap')}</strong>
              <span className="muted small">{t('delivery.capHint')}</span>
            </span>
          </label>
          {draft.hasCap && (
            <div className="inline-fields">
              <Field
                label={t('delivery.capMessages')}
                value={draft.capMessages}
                onChange={capMessages => onChange({ capMessages })}
              />
              <Field label={t('delivery.capDays')} value={draft.capDays} onChange={capDays => onChange({ capDays })} />
            </div>
          )}
          {capError && <p className="field-error">{capError}</p>}
        </fieldset>
        <div className="form-row">
          <Field
            label={t('delivery.rate')}
            hint={t('delivery.rateHint')}
            placeholder={t('delivery.channelRate')}
            value={draft.rate}
            error={errorsOf(errors, 'messagesPerSecond')}
            onChange={rate => onChange({ rate })}
          />
          <Field
            label={t('delivery.firstWave')}
            hint={t('delivery.firstWaveHint')}
            placeholder={t('delivery.firstWaveDefault')}
            value={draft.firstWave}
            error={errorsOf(errors, 'firstWave')}
            onChange={firstWave => onChange({ firstWave })}
          />
          <Field
            label={t('delivery.maxFailure')}
            hint={t('delivery.maxFailureHint')}
            value={draft.maxFailure}
            error={errorsOf(errors, 'maxFailurePercent')}
            onChange={maxFailure => onChange({ maxFailure })}
          />
        </div>
      </div>
    </section>
  );
}
