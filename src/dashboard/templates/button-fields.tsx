import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { BUTTON_TYPES, type ButtonDraft, MAX_BUTTONS, MAX_OF, VARIABLE, withButton } from './template-draft.ts';

interface Props {
  readonly buttons: readonly ButtonDraft[];
  readonly onChange: (buttons: readonly ButtonDraft[]) => void;
  readonly errorAt: (place: string) => string | undefined;
}

/** The buttons below a template: replies, links whose end a send may give, a number to call, a code to copy. */
export function ButtonFields({ buttons, onChange, errorAt }: Props) {
  const { t } = useTexts();
  const patch = (key: number, changes: Partial<ButtonDraft>): void =>
    onChange(buttons.map(each => (each.key === key ? { ...each, ...changes } : each)));
  return (
    <fieldset className="button-fields">
      <legend>{t('templates.buttons')}</legend>
      {buttons.map((button, index) => (
        <ButtonRow
          key={button.key}
          button={button}
          label={t('templates.buttonName', { number: index + 1, type: t(`buttonType.${button.type}`) })}
          errorAt={field => errorAt(`BUTTONS.${index}.${field}`)}
          onChange={changes => patch(button.key, changes)}
          onRemove={() => onChange(buttons.filter(({ key }) => key !== button.key))}
        />
      ))}
      {errorAt('BUTTONS') !== undefined && <span className="field-error">{errorAt('BUTTONS')}</span>}
      <div className="page-actions">
        {BUTTON_TYPES.map(type => (
          <button
            key={type}
            type="button"
            className="button small"
            disabled={
              buttons.length >= MAX_BUTTONS || buttons.filter(each => each.type === type).length >= MAX_OF[type]
            }
            onClick={() => onChange(withButton(buttons, type))}
          >
            <Icon name="plus" size={15} /> {t(`buttonType.${type}`)}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

interface RowProps {
  readonly button: ButtonDraft;
  readonly label: string;
  readonly errorAt: (field: string) => string | undefined;
  readonly onChange: (changes: Partial<ButtonDraft>) => void;
  readonly onRemove: () => void;
}

/** The name of the value in the network's format, by which its faults are reported. */
const VALUE_FIELDS = { URL: 'url', PHONE_NUMBER: 'phone_number', COPY_CODE: 'example' } as const;

function ButtonRow({ button: { type, text, value, example }, label, errorAt, onChange, onRemove }: RowProps) {
  const { t } = useTexts();
  return (
    <fieldset className="button-card" aria-label={label}>
      <div className="button-card-head">
        <strong className="small">{label}</strong>
        <button
          type="button"
          className="icon-button small"
          aria-label={t('deleteOf', { name: label })}
          onClick={onRemove}
        >
          <Icon name="trash" size={16} />
        </button>
      </div>
      {type !== 'COPY_CODE' && (
        <Field
          label={t('templates.buttonText')}
          value={text}
          onChange={words => onChange({ text: words })}
          error={errorAt('text')}
          isRequired
        />
      )}
      {type !== 'QUICK_REPLY' && (
        <Field
          label={t(`templates.${type}`)}
          value={value}
          onChange={words => onChange({ value: words })}
          error={errorAt(VALUE_FIELDS[type])}
          hint={t(`templates.hint.${type}`)}
          isRequired
        />
      )}
      {type === 'URL' && value.includes(VARIABLE) && (
        <Field
          label={t('templates.suffixExample')}
          value={example}
          onChange={words => onChange({ example: words })}
          error={errorAt('example')}
          isRequired
        />
      )}
    </fieldset>
  );
}
