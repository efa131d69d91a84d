import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { type BotItemFragment, BotsDocument, DeleteBotDocument, UpdateBotDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { TableBox } from '../ui/table-box.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { BotDialog } from './bot-dialog.tsx';
import { BotHistory } from './bot-history.tsx';
import { useReplyText } from './bot-reply.ts';
import { BotTest } from './bot-test.tsx';

/** Automatic replies, and what they would answer. */
export default function Bots() {
  const { t } = useTexts();
  const replyText = useReplyText();
  const { can } = useAccount();
  const dates = useDates();
  const [{ data, fetching }, refetch] = useQuery({ query: BotsDocument, requestPolicy: 'cache-and-network' });
  const [updated, update] = useMutation(UpdateBotDocument);
  const [removed, remove] = useMutation(DeleteBotDocument);
  const [edited, setEdited] = useState<BotItemFragment | 'new'>();
  const reload = (): void => refetch({ requestPolicy: 'network-only' });
  const bots = data?.bots?.nodes ?? [];
  const mayWrite = can('BOTS_WRITE');
  return (
    <Page
      title={t('nav.bots')}
      lead={t('bots.lead')}
      actions={
        mayWrite && (
          <button type="button" className="button primary" onClick={() => setEdited('new')}>
            <Icon name="plus" size={17} /> {t('bots.new')}
          </button>
        )
      }
    >
      <UserErrors
        errors={[...(updated.data?.updateBot?.userErrors ?? []), ...(removed.data?.deleteBot?.userErrors ?? [])]}
        failure={updated.error ?? removed.error}
      />
      {bots.length === 0 && !fetching ? (
        <Empty title={t('bots.noneTitle')} text={t('bots.none')} example="bot" />
      ) : (
        <TableBox label={t('nav.bots')}>
          <table>
            <thead>
              <tr>
                <th>{t('name')}</th>
                <th>{t('bots.trigger')}</th>
                <th>{t('bots.reply')}</th>
                <th className="number">{t('bots.replies')}</th>
                <th>{t('bots.last')}</th>
                <th>{t('bots.enabled')}</th>
                <th>
                  <span className="visually-hidden">{t('actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {bots.map(bot => (
                <tr key={bot.id}>
                  <td>
                    <strong>
                      <bdi>{bot.name}</bdi>
                    </strong>
                  </td>
                  <td>
                    <span className="muted small">{t(`trigger.${bot.trigger}`)}</span>{' '}
                    {bot.pattern ? <code>{bot.pattern}</code> : <bdi>{bot.keywords.join(', ')}</bdi>}
                  </td>
                  <td className="cell-text" dir="auto">
                    {replyText(bot.reply)}
                  </td>
                  <td className="number">{bot.repliesCount}</td>
                  <td className="muted small">
                    {bot.lastRefusal ? (
                      <span className="chip danger" title={bot.lastRefusal.message}>
                        {t('bots.refused')}
                      </span>
                    ) : bot.lastRepliedAt ? (
                      dates.full(bot.lastRepliedAt)
                    ) : (
                      t('never')
                    )}
                  </td>
                  <td>
                    <input
                      type="checkbox"
                      className="switch"
                      aria-label={t('bots.enable', { name: bot.name })}
                      checked={bot.isEnabled}
                      disabled={!mayWrite}
                      onChange={event => void update({ input: { id: bot.id, isEnabled: event.target.checked } })}
                    />
                  </td>
                  <td className="cell-actions">
                    {mayWrite && (
                      <>
                        <button
                          type="button"
                          className="icon-button small"
                          aria-label={t('edit', { name: bot.name })}
                          onClick={() => setEdited(bot)}
                        >
                          <Icon name="edit" size={16} />
                        </button>
                        <ConfirmButton
                          className="icon-button small"
                          label={t('deleteOf', { name: bot.name })}
                          question={t('deleteTitle', { name: bot.name })}
                          consequence={t('bots.deleteText')}
                          action={t('delete')}
                          onConfirm={() => remove({ input: { id: bot.id } }).then(reload)}
                        >
                          <Icon name="trash" size={16} />
                        </ConfirmButton>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
      {bots.length > 0 && (
        <>
          <BotTest />
          <BotHistory bots={bots} />
        </>
      )}
      {edited && (
        <BotDialog
          bot={edited === 'new' ? undefined : edited}
          onClose={() => {
            setEdited(undefined);
            reload();
          }}
        />
      )}
    </Page>
  );
}
