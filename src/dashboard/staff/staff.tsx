import { useState } from 'react';
import { useMutation } from 'urql';
import {
  DeleteStaffMemberDocument,
  RevokeStaffSessionsDocument,
  StaffDocument,
  type StaffQuery,
  type StaffRole,
  UpdateStaffMemberDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { TableBox } from '../ui/table-box.tsx';
import { useAll } from '../ui/use-all.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { NewStaffMember } from './new-staff-member.tsx';
import { ROLES } from './roles.ts';

const peopleOf = ({ staffMembers }: StaffQuery) => staffMembers;

/** The people of the account: their roles, and an end to their sessions. */
export default function Staff() {
  const { t } = useTexts();
  const { can, viewer } = useAccount();
  const dates = useDates();
  const { rows: people, reload, error } = useAll({ query: StaffDocument, connectionOf: peopleOf, isFresh: true });
  const [updated, update] = useMutation(UpdateStaffMemberDocument);
  const [deleted, remove] = useMutation(DeleteStaffMemberDocument);
  const [revoked, revoke] = useMutation(RevokeStaffSessionsDocument);
  const [isNew, setNew] = useState(false);
  const [ended, setEnded] = useState<string>();
  const mayWrite = can('STAFF_WRITE');
  return (
    <Page
      title={t('nav.staff')}
      lead={t('staff.lead')}
      actions={
        mayWrite && (
          <button type="button" className="button primary" onClick={() => setNew(true)}>
            <Icon name="plus" size={17} /> {t('staff.new')}
          </button>
        )
      }
    >
      <UserErrors
        errors={[
          ...(updated.data?.updateStaffMember?.userErrors ?? []),
          ...(deleted.data?.deleteStaffMember?.userErrors ?? []),
          ...(revoked.data?.revokeStaffSessions?.userErrors ?? []),
        ]}
        failure={updated.error ?? deleted.error ?? revoked.error ?? error}
      />
      {ended !== undefined && (
        <p className="notice good" role="status">
          {t('staff.ended', { name: ended })}
        </p>
      )}
      {people?.length === 0 && <Empty title={t('staff.noneTitle')} text={t('staff.none')} example="staff" />}
      {people && people.length > 0 && (
        <TableBox label={t('nav.staff')}>
          <table>
            <thead>
              <tr>
                <th>{t('name')}</th>
                <th>{t('staff.role')}</th>
                <th>{t('staff.since')}</th>
                <th>
                  <span className="visually-hidden">{t('actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {people.map(({ id, name, email, role, createdAt }) => (
                <tr key={id}>
                  <td>
                    <span className="person">
                      <Avatar name={name} size="small" />
                      <span>
                        <strong>{name}</strong>{' '}
                        {viewer.staffMember?.id === id && <span className="chip info">{t('staff.you')}</span>}
                        <br />
                        <span className="muted small">{email}</span>
                      </span>
                    </span>
                  </td>
                  <td>
                    {mayWrite ? (
                      <select
                        aria-label={t('staff.roleOf', { name })}
                        value={role}
                        onChange={event =>
                          void update({ input: { id, role: event.target.value as StaffRole } }).then(reload)
                        }
                      >
                        {ROLES.map(each => (
                          <option key={each} value={each}>
                            {t(`role.${each}`)}
                          </option>
                        ))}
                      </select>
                    ) : (
                      t(`role.${role}`)
                    )}
                  </td>
                  <td className="muted small">{dates.full(createdAt)}</td>
                  <td className="cell-actions">
                    {mayWrite && (
                      <>
                        <button
                          type="button"
                          className="button small"
                          onClick={() =>
                            void revoke({ input: { id } }).then(result => {
                              if (result.data?.revokeStaffSessions?.staffMember) setEnded(name);
                            })
                          }
                        >
                          {t('staff.endSessions')}
                        </button>
                        <ConfirmButton
                          className="icon-button small"
                          label={t('deleteOf', { name })}
                          question={t('deleteTitle', { name })}
                          consequence={t('staff.deleteText')}
                          action={t('delete')}
                          onConfirm={() => remove({ input: { id } }).then(reload)}
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
      <dl className="roles">
        {ROLES.map(role => (
          <div key={role}>
            <dt>{t(`role.${role}`)}</dt>
            <dd className="muted">{t(`staff.may.${role}`)}</dd>
          </div>
        ))}
      </dl>
      {isNew && (
        <NewStaffMember
          onClose={() => {
            setNew(false);
            reload();
          }}
        />
      )}
    </Page>
  );
}
