import type { InteractiveInput } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';

/** Ways to ask, in the order of their tabs. */
export const CHOICE_KINDS = ['buttons', 'list', 'link'] as const;
export type ChoiceKind = (typeof CHOICE_KINDS)[number];

/** Form state of all kinds: switching the kind loses nothing. */
export interface ChoiceDraft {
  readonly buttons: readonly string[];
  readonly listButton: string;
  readonly rows: readonly string[];
  readonly linkText: string;
  readonly url: string;
}

/** The network allows three buttons of 20 characters, and ten rows of 24. */
const MAX = { buttons: 3, rows: 10 } as const;
const LENGTH = { buttons: 20, rows: 24 } as const;

/** The part of the input that belongs to a kind. */
export function choiceInput(kind: ChoiceKind, draft: ChoiceDraft): Omit<InteractiveInput, 'body'> {
  const filled = (titles: readonly string[], prefix: string) =>
    titles
      .map(title => title.trim())
      .filter(Boolean)
      .map((title, index) => ({ replyId: `${prefix}-${index + 1}`, title }));
  switch (kind) {
    case 'buttons':
      return { buttons: filled(draft.buttons, 'choice') };
    case 'list':
      return { list: { button: draft.listButton.trim(), sections: [{ rows: filled(draft.rows, 'row') }] } };
    case 'link':
      return { ctaUrl: { displayText: draft.linkText.trim(), url: draft.url.trim() } };
    default:
      return kind satisfies never;
  }
}

interface Props {
  readonly kind: ChoiceKind;
  readonly draft: ChoiceDraft;
  readonly onChange: (draft: ChoiceDraft) => void;
}

/** The fields of a kind. */
export function ChoiceFields({ kind, draft, onChange }: Props) {
  const { t } = useTexts();
  const text = (name: 'listButton' | 'linkText' | 'url', label: string, props: object) => (
    <label className="field">
      <span>{label}</span>
      <input
        required
        value={draft[name]}
        onChange={event => onChange({ ...draft, [name]: event.target.value })}
        {...props}
      />
    </label>
  );
  // One field more than is filled, up to what the network allows; all three buttons at once.
  const titles = (name: 'buttons' | 'rows', label: 'choice.button' | 'choice.row') =>
    Array.from({ length: name === 'buttons' ? MAX.buttons : Math.min(MAX.rows, draft.rows.length + 1) }, (_, index) => (
      <label className="field" key={`${name} ${String(index)}`}>
        <span>{t(label, { count: index + 1 })}</span>
        <input
          maxLength={LENGTH[name]}
          required={index === 0}
          value={draft[name][index] ?? ''}
          onChange={event => {
            const next = [...draft[name]];
            next[index] = event.target.value;
            onChange({ ...draft, [name]: Array.from(next, title => title ?? '') });
          }}
        />
      </label>
    ));
  switch (kind) {
    case 'buttons':
      return titles('buttons', 'choice.button');
    case 'list':
      return (
        <>
          {text('listButton', t('choice.listButton'), { maxLength: 20 })}
          {titles('rows', 'choice.row')}
        </>
      );
    case 'link':
      return (
        <>
          {text('linkText', t('choice.linkText'), { maxLength: 20 })}
          {text('url', t('choice.url'), { type: 'url', placeholder: 'https://example.com', dir: 'ltr' })}
        </>
      );
    default:
      return kind satisfies never;
  }
}
