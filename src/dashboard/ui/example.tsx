import { useState } from 'react';
import { useQuery } from 'urql';
import { ExampleNumberDocument, ExampleTemplatesDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { EXAMPLES, type ExampleKind, type ExampleName, type Variants } from './examples.ts';
import { Icon } from './icon.tsx';

/** A command that works as it stands, to copy. */
export function Example({ text }: { readonly text: string }) {
  const { t } = useTexts();
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  };
  return (
    <div className="example" dir="ltr">
      <button type="button" className="button small" onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} size={15} /> {isCopied ? t('copied') : t('copy')}
      </button>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}

const KINDS: readonly ExampleKind[] = ['curl', 'graphql', 'cli'];

/** The same thing over REST, GraphQL and the command line, as far as each has it, for this account. */
export function Examples({ name }: { readonly name: ExampleName }) {
  const { t } = useTexts();
  const { tenant, can } = useAccount();
  const needsTemplate = name === 'message' || name === 'campaign';
  const [{ data }] = useQuery({ query: ExampleTemplatesDocument, pause: !needsTemplate || !can('TEMPLATES_READ') });
  const [number] = useQuery({ query: ExampleNumberDocument, pause: name !== 'phone' || !can('CHANNELS_READ') });
  const template = (data?.templates?.nodes ?? []).find(
    ({ header, body, buttons }) =>
      (header === null || (header.format === 'TEXT' && header.parameters.length === 0)) &&
      body?.parameters.length === 0 &&
      !buttons.some(({ needsParameter }) => needsParameter),
  );
  // The template that every new business account has.
  const { name: templateName, language } = template ?? { name: 'hello_world', language: 'en_US' };
  const variants: Variants = EXAMPLES[name]({
    origin: location.origin,
    tenant,
    template: { name: templateName, language },
    phoneNumberId: number.data?.channels?.nodes[0]?.phoneNumberId,
  });
  const kinds = KINDS.filter(kind => variants[kind] !== undefined);
  const [chosen, choose] = useState<ExampleKind>();
  const kind = chosen ?? kinds[0] ?? 'curl';
  return (
    <div className="examples">
      <fieldset className="tabs" aria-label={t('example.kinds')}>
        {kinds.map(each => (
          <button key={each} type="button" className="tab" aria-pressed={each === kind} onClick={() => choose(each)}>
            {t(`example.${each}`)}
          </button>
        ))}
      </fieldset>
      <Example key={kind} text={variants[kind] ?? ''} />
      <p className="muted small">{t(`example.${kind}Hint`)}</p>
    </div>
  );
}
