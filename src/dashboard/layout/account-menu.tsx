import { useAccount } from '../session/account.tsx';
import { LANGUAGES, type Language, useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { THEMES, useTheme } from './theme.ts';

/** Menu of the account: acting staff member, language, theme, sign-out. */
export function AccountMenu() {
  const { t, language, setLanguage } = useTexts();
  const { viewer, staff, readStaff, actAs, signOut, can } = useAccount();
  const [theme, setTheme] = useTheme();
  const name = viewer.staffMember?.name ?? viewer.token.name;
  // A staff session does not have this scope unless it is an admin's: the session of the token has it.
  const mayAct = can('STAFF_WRITE') || viewer.staffMember !== null;
  const people: MenuItem[] = mayAct
    ? [
        {
          id: 'token',
          label: t('account.asToken'),
          isChecked: viewer.staffMember === null,
          onSelect: () => actAs(undefined),
        },
        ...staff.map(member => ({
          id: member.id,
          label: (
            <>
              {member.name} <span className="muted small">{t(`role.${member.role}`)}</span>
            </>
          ),
          isChecked: viewer.staffMember?.id === member.id,
          onSelect: () => actAs(member.id),
        })),
      ]
    : [];
  return (
    <Menu
      label={t('account.menu')}
      text={name}
      isUp
      buttonClass="account-button"
      onOpen={mayAct ? readStaff : undefined}
      button={
        <>
          <Avatar name={name} size="small" />
          <span className="account-name">{name}</span>
        </>
      }
      items={[
        ...people,
        ...(Object.keys(LANGUAGES) as Language[]).map((code, index) => ({
          id: code,
          label: <span lang={code}>{LANGUAGES[code].name}</span>,
          isChecked: code === language,
          beginsGroup: index === 0,
          onSelect: () => setLanguage(code),
        })),
        ...THEMES.map((each, index) => ({
          id: each,
          beginsGroup: index === 0,
          label: t(`theme.${each}`),
          isChecked: each === theme,
          onSelect: () => setTheme(each),
        })),
        { id: 'out', beginsGroup: true, label: t('account.signOut'), onSelect: signOut },
      ]}
    />
  );
}
