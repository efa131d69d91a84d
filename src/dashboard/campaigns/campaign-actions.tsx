import { useState } from 'react';
import { useMutation } from 'urql';
import { Link, useLocation } from 'wouter';
import {
  type CampaignMoreFragment,
  CancelCampaignDocument,
  DeleteCampaignDocument,
  PauseCampaignDocument,
  ResumeCampaignDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { StartDialog } from './start-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';

/** Actions that the status of a campaign permits. */
export function CampaignActions({ campaign }: { readonly campaign: CampaignMoreFragment }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<'start' | 'test' | 'cancel' | 'delete'>();
  const [paused, pause] = useMutation(PauseCampaignDocument);
  const [resumed, resume] = useMutation(ResumeCampaignDocument);
  const [cancelled, cancel] = useMutation(CancelCampaignDocument);
  const [removed, remove] = useMutation(DeleteCampaignDocument);
  const { id, databaseId, name, status } = campaign;
  const input = { id };
  const close = (): void => setDialog(undefined);
  if (!can('CAMPAIGNS_WRITE')) return null;
  const maySend = can('MESSAGES_SEND');
  const isBefore = status === 'DRAFT' || status === 'SCHEDULED';
  const isOver = status === 'COMPLETED' || status === 'CANCELLED' || status === 'FAILED';
  return (
    <>
      {maySend && (
        <button type="button" className="button" onClick={() => setDialog('test')}>
          <Icon name="phone" size={17} /> {t('campaigns.test')}
        </button>
      )}
      {isBefore && maySend && (
        <Link href={`/campaigns/${databaseId}/edit`} className="button">
          <Icon name="edit" size={17} /> {t('campaigns.edit')}
        </Link>
      )}
      {(status === 'DRAFT' || isOver) && (
        <button type="button" className="button" onClick={() => setDialog('delete')}>
          <Icon name="trash" size={17} /> {t('delete')}
        </button>
      )}
      {maySend && (status === 'SCHEDULED' || status === 'RUNNING' || status === 'PAUSED') && (
        <button type="button" className="button" onClick={() => setDialog('cancel')}>
          <Icon name="close" size={17} /> {t('campaigns.cancel')}
        </button>
      )}
      {maySend && status === 'RUNNING' && (
        <button
          type="button"
          className="button primary"
          disabled={paused.fetching}
          onClick={() => void pause({ input })}
        >
          <Icon name="pause" size={17} /> {t('pause')}
        </button>
      )}
      {maySend && status === 'PAUSED' && (
        <button
          type="button"
          className="button primary"
          disabled={resumed.fetching}
          onClick={() => void resume({ input })}
        >
          <Icon name="play" size={17} /> {t('resume')}
        </button>
      )}
      {maySend && isBefore && (
        <button type="button" className="button primary" onClick={() => setDialog('start')}>
          <Icon name="play" size={17} /> {t('campaigns.start')}
        </button>
      )}
      <UserErrors
        errors={[
          ...(paused.data?.pauseCampaign?.userErrors ?? []),
          ...(resumed.data?.resumeCampaign?.userErrors ?? []),
        ]}
        failure={paused.error ?? resumed.error}
      />
      {dialog === 'start' && <StartDialog campaign={campaign} onClose={close} />}
      {dialog === 'test' && <TestDialog campaignId={id} onClose={close} />}
      {dialog === 'cancel' && (
        <Confirm
          title={t('campaigns.cancelTitle', { name })}
          text={t('campaigns.cancelText')}
          action={t('campaigns.cancel')}
          errors={cancelled.data?.cancelCampaign?.userErrors ?? []}
          failure={cancelled.error}
          onClose={close}
          onConfirm={async () => {
            const { data } = await cancel({ input });
            if (data?.cancelCampaign?.campaign) close();
          }}
        />
      )}
      {dialog === 'delete' && (
        <Confirm
          title={t('campaigns.deleteTitle', { name })}
          text={t('campaigns.deleteText')}
          action={t('delete')}
          errors={removed.data?.deleteCampaign?.userErrors ?? []}
          failure={removed.error}
          onClose={close}
          onConfirm={async () => {
            const { data } = await remove({ input });
            if (data?.deleteCampaign?.deletedId) navigate('/campaigns');
          }}
        />
      )}
    </>
  );
}

type Faults = Parameters<typeof UserErrors>[0];

interface ConfirmProps extends Faults {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<void>;
}

function Confirm({ title, text, action, onClose, onConfirm, ...faults }: ConfirmProps) {
  const { t } = useTexts();
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        <p>{text}</p>
        <UserErrors {...faults} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('back')}
          </button>
          <button type="button" className="button danger" onClick={() => void onConfirm()}>
            {action}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
