import { useDeferredValue, useMemo } from 'react';
import { useQuery } from 'urql';
import { PreviewTemplateDocument } from '../documents.generated.ts';
import type { Template } from '../templates/use-templates.ts';
import { useTexts } from '../texts/texts.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { RenderedTemplate } from './rendered-template.tsx';
import { previewInputOf, withoutPlaceholder } from './template-values.ts';

interface Props {
  readonly template: Template;
  /** By the keys of the form. */
  readonly values: Readonly<Record<string, string>>;
  /** The person with whose data merge fields are filled. */
  readonly contactId?: string | undefined;
}

/** The message as the gateway renders it, with examples where nothing is typed yet. */
export function TemplatePreview({ template, values, contactId }: Props) {
  const { t } = useTexts();
  const shown = useDeferredValue(useMemo(() => previewInputOf(template, values), [template, values]));
  const [{ data }] = useQuery({ query: PreviewTemplateDocument, variables: { template: shown, contactId } });
  const rendered = data?.previewTemplate?.rendered;
  return (
    <fieldset className="preview" aria-label={t('template.preview')}>
      <div className="bubble ours">
        {rendered ? (
          <RenderedTemplate rendered={withoutPlaceholder(rendered)} />
        ) : (
          <UserErrors errors={data?.previewTemplate?.userErrors ?? []} />
        )}
      </div>
    </fieldset>
  );
}
