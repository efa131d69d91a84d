import { useState } from 'react';
import { useMutation } from 'urql';
import { Link, useSearch } from 'wouter';
import {
  type ConversationRowFragment,
  type ThreadMessageFragment,
  UpdateConversationDocument,
} from '../documents.generated.ts';
import type { Colleague } from '../presence/use-colleagues.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { presentTime, useNow } from '../ui/now.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { Colleagues } from './colleagues.tsx';
import { useInboxCommand } from './keys.tsx';
import { useStatusChange } from './use-status-change.ts';

const HOUR = 3_600_000;

interface Props {
  readonly conversation: ConversationRowFragment;
  /** Those that are loaded. */
  readonly messages: readonly ThreadMessageFragment[];
  readonly colleagues: readonly Colleague[];
  /** Panel beside the thread. */
  readonly side: 'details' | 'phone' | undefined;
  readonly onDetails: () => void;
  /** Opens the person's phone, where the network is the emulated one. */
  readonly onPhone: (() => void) | undefined;
}

/** Head of a thread: the contact, and the actions assign, snooze and close. */
export function ThreadHead({ conversation, messages, colleagues, side, onDetails, onPhone }: Props) {
  const { t } = useTexts();
  const { can, staff, readStaff, viewer } = useAccount();
  const query = useSearch();
  const [result, update] = useMutation(UpdateConversationDocument);
  const [assignSignal, setAssignSignal] = useState(0);
  const { id, contact, assignee, status } = conversation;
  const name = contact?.displayName ?? t('inbox.unknown');
  const mayChange = can('CONVERSATIONS_WRITE');
  const change = useStatusChange(id, messages);
  const { setStatus, newMessage } = change;
  // With the assignee that this page shows: somebody who was quicker is not overruled unseen.
  const assign = (assigneeId: string | null): void => {
    void update({ input: { id, assigneeId, expectedAssigneeId: assignee?.id ?? null } });
  };
  useInboxCommand(command => {
    if (!mayChange) return;
    if (command === 'assign') {
      const me = viewer.staffMember?.id;
      if (me !== undefined && assignee?.id !== me) assign(me);
      else setAssignSignal(signal => signal + 1);
    } else if (command === 'close') setStatus(status === 'CLOSED' ? 'OPEN' : 'CLOSED');
  });
  return (
    <header className="thread-head">
      <Link
        href={`/inbox${query ? `?${query}` : ''}`}
        className="icon-button thread-back"
        aria-label={t('thread.back')}
      >
        <Icon name="back" />
      </Link>
      <Avatar name={name} />
      <div className="thread-title">
        <h2 className="ellipsis" dir="auto">
          {name}
        </h2>
        <p className="muted small ellipsis">
          <bdi>{contact?.phone}</bdi>
          <WindowLeft conversation={conversation} />
        </p>
      </div>
      {mayChange && (
        <div className="thread-actions">
          <Menu
            label={t('thread.assign')}
            text={assignee?.name ?? t('filter.nobody')}
            openSignal={assignSignal}
            onOpen={readStaff}
            buttonClass="button assign-button"
            button={
              <>
                <Icon name="user" size={17} />
                <span className="ellipsis" dir="auto">
                  {assignee?.name ?? t('filter.nobody')}
                </span>
              </>
            }
            items={[
              { id: 'none', label: t('filter.nobody'), isChecked: !assignee, onSelect: () => assign(null) },
              ...staff.map(member => ({
                id: member.id,
                label: member.name,
                isChecked: assignee?.id === member.id,
                onSelect: () => assign(member.id),
              })),
            ]}
          />
          <Menu
            label={t('thread.status')}
            text={t(`status.${status}`)}
            buttonClass="button status-button"
            button={
              <>
                <i className={`dot status-${status.toLowerCase()}`} />
                {t(`status.${status}`)}
              </>
            }
            items={[
              { id: 'OPEN', label: t('status.OPEN'), isChecked: status === 'OPEN', onSelect: () => setStatus('OPEN') },
              {
                id: 'PENDING',
                label: t('status.PENDING'),
                isChecked: status === 'PENDING',
                onSelect: () => setStatus('PENDING'),
              },
              ...[1, 4, 24].map(hours => ({
                id: `snooze-${hours}`,
                label: t('thread.snooze', { count: hours }),
                onSelect: () => setStatus('SNOOZED', new Date(presentTime() + hours * HOUR).toISOString()),
              })),
            ]}
          />
          <button
            type="button"
            className="button"
            title={`${t('keys.close')} (e)`}
            onClick={() => setStatus(status === 'CLOSED' ? 'OPEN' : 'CLOSED')}
          >
            <Icon name={status === 'CLOSED' ? 'replay' : 'check'} size={17} />
            <span className="action-text">{status === 'CLOSED' ? t('thread.reopen') : t('thread.close')}</span>
          </button>
        </div>
      )}
      {onPhone && (
        <button
          type="button"
          className="icon-button"
          aria-label={t('phone.open')}
          title={t('phone.open')}
          aria-pressed={side === 'phone'}
          onClick={onPhone}
        >
          <Icon name="phone" />
        </button>
      )}
      <button
        type="button"
        className="icon-button details-button"
        aria-label={t('details.title')}
        aria-pressed={side === 'details'}
        onClick={onDetails}
      >
        <Icon name="panel" />
      </button>
      <SnoozedUntil conversation={conversation} />
      <Colleagues colleagues={colleagues} />
      {newMessage && (
        <p className="notice danger" role="alert">
          {t('thread.wroteMeanwhile', { name, text: newMessage.previewText })}
        </p>
      )}
      <UserErrors errors={change.errors} failure={change.failure} />
      <UserErrors errors={result.data?.updateConversation?.userErrors ?? []} failure={result.error} />
    </header>
  );
}

function SnoozedUntil({ conversation: { status, snoozedUntil } }: { readonly conversation: ConversationRowFragment }) {
  const { t } = useTexts();
  const dates = useDates();
  const now = useNow();
  if (status !== 'SNOOZED' || !snoozedUntil) return null;
  return (
    <p className="snoozed-until muted small">
      <Icon name="clock" size={15} /> {t('thread.snoozedUntil', { time: dates.moment(snoozedUntil, now) })}
    </p>
  );
}

function WindowLeft({ conversation: { serviceWindow } }: { readonly conversation: ConversationRowFragment }) {
  const { t } = useTexts();
  const dates = useDates();
  const now = useNow();
  const leftMs = serviceWindow.expiresAt ? Date.parse(serviceWindow.expiresAt) - now : 0;
  return (
    <span className={leftMs > 0 ? 'window open' : 'window'} title={t('window.explained')}>
      <Icon name="clock" size={13} />
      {leftMs > 0 ? t('window.left', { span: dates.span(leftMs) }) : t('window.closed')}
    </span>
  );
}
