import { useState } from 'react';
import { useMutation } from 'urql';
import {
  CreateShopMappingDocument,
  type ShopFragment,
  type ShopMappingFragment,
  UpdateShopMappingDocument,
} from '../documents.generated.ts';
import { APPROVED, useTemplates } from '../templates/use-templates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { atFields, FormDialog } from '../ui/form-dialog.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Select } from '../ui/select.tsx';
import { errorsOf } from '../ui/user-errors.tsx';

interface Props {
  readonly shop: ShopFragment;
  /** Undefined: a new one. */
  readonly mapping: ShopMappingFragment | undefined;
  readonly onClose: () => void;
}

/** A value as the form shows it: a path of the payload, or a fixed text in quotes. */
const written = ({ path, text }: { readonly path: string | null; readonly text: string | null }): string =>
  path ?? `"${text ?? ''}"`;
const valueFrom = (text: string) => {
  const fixed = /^"(.*)"$/.exec(text)?.[1];
  return fixed === undefined ? { path: text } : { text: fixed };
};

/** Edits a mapping: the order statuses, the template that they send, and the sources of its variables. */
export function MappingDialog({ shop, mapping, onClose }: Props) {
  const { t } = useTexts();
  const [created, create] = useMutation(CreateShopMappingDocument);
  const [updated, update] = useMutation(UpdateShopMappingDocument);
  const [name, setName] = useState(mapping?.name ?? '');
  const [statuses, setStatuses] = useState(mapping?.statuses.join(', ') ?? 'processing');
  const [template, setTemplate] = useState(
    mapping?.template ? `${mapping.template.name} ${mapping.template.language}` : '',
  );
  const [values, setValues] = useState<readonly string[]>(mapping?.template?.body.map(written) ?? []);
  const [search, setSearch] = useState('');
  const { templates = [], hasMore } = useTemplates(APPROVED, search, template.split(' ')[0] || undefined);
  const chosen = templates.find(each => `${each.name} ${each.language}` === template);
  const variables = [...new Set((chosen?.body?.text ?? '').match(/\{\{\d+\}\}/g))];
  const errors =
    created.data?.createIntegrationMapping?.userErrors ?? updated.data?.updateIntegrationMapping?.userErrors ?? [];
  const submit = async (): Promise<void> => {
    const input = {
      name,
      statuses: statuses
        .split(',')
        .map(status => status.trim())
        .filter(Boolean),
      ...(chosen && {
        template: {
          name: chosen.name,
          language: chosen.language,
          body: variables.map((_, index) => valueFrom(values[index] ?? '')),
        },
      }),
    };
    const result = mapping
      ? (await update({ input: { id: mapping.id, ...input } })).data?.updateIntegrationMapping
      : (await create({ input: { integrationId: shop.id, ...input } })).data?.createIntegrationMapping;
    if (result?.integrationMapping) onClose();
  };
  return (
    <FormDialog
      title={mapping ? t('edit', { name: mapping.name }) : t('shops.newMapping')}
      onClose={onClose}
      isWide
      onSubmit={submit}
      isBusy={created.fetching || updated.fetching}
      errors={errors}
      isShown={atFields('name', 'statuses')}
      failure={created.error ?? updated.error}
    >
      <Field label={t('name')} value={name} onChange={setName} error={errorsOf(errors, 'name')} isRequired />
      <Field
        label={t('shops.statuses')}
        value={statuses}
        onChange={setStatuses}
        error={errorsOf(errors, 'statuses')}
        hint={t('shops.statusesHint')}
      />
      {(hasMore || search !== '') && <SearchField label={t('templates.search')} value={search} onChange={setSearch} />}
      <Select label={t('shops.template')} value={template} onChange={setTemplate}>
        <option value="">{t('shops.noTemplate')}</option>
        {templates.map(each => (
          <option key={each.id} value={`${each.name} ${each.language}`}>
            {each.name} ({each.language})
          </option>
        ))}
      </Select>
      {chosen?.body && <p className="preview-text muted">{chosen.body.text}</p>}
      {variables.map((variable, index) => (
        <Field
          key={variable}
          label={t('shops.value', { name: variable })}
          value={values[index] ?? ''}
          onChange={value => setValues(variables.map((_, at) => (at === index ? value : (values[at] ?? ''))))}
          placeholder="billing.first_name"
          hint={t('shops.valueHint')}
          isRequired
        />
      ))}
    </FormDialog>
  );
}
