import { useState } from 'react';
import { useQuery } from 'urql';
import { CampaignListsDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Select } from '../ui/select.tsx';
import type { ListChoice } from './campaign-draft.ts';
import { UploadDialog } from './upload-dialog.tsx';

interface Props {
  readonly list: ListChoice | undefined;
  readonly onChange: (list: ListChoice | undefined) => void;
}

/** One of the uploaded lists, or a new upload. */
export function ListChooser({ list, onChange }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const [isUploading, setUploading] = useState(false);
  const [{ data }, refetch] = useQuery({ query: CampaignListsDocument, requestPolicy: 'cache-and-network' });
  const lists = data?.recipientLists?.nodes ?? [];
  return (
    <div className="form">
      <div className="value-field">
        <Select
          label={t('audience.chooseList')}
          value={list?.id ?? ''}
          hint={list ? t('audience.listDetail', { count: list.rowCount, columns: list.columns.join(', ') }) : undefined}
          onChange={id => onChange(lists.find(each => each.id === id))}
        >
          <option value="">{t('choose')}</option>
          {lists.map(({ id, name, rowCount }) => (
            <option key={id} value={id}>
              {t('audience.ofList', { name, count: rowCount })}
            </option>
          ))}
        </Select>
        {can('CONTACTS_WRITE') && (
          <button type="button" className="button" onClick={() => setUploading(true)}>
            <Icon name="upload" size={17} /> {t('upload.open')}
          </button>
        )}
      </div>
      {isUploading && (
        <UploadDialog
          onClose={() => setUploading(false)}
          onUploaded={uploaded => {
            refetch({ requestPolicy: 'network-only' });
            onChange(uploaded);
          }}
        />
      )}
    </div>
  );
}
