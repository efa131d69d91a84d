import { type FormEvent, useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import type { BusinessNumber, Chat, Emulator } from './emulator.ts';

interface Props {
  readonly phone: string;
  readonly name: string;
  readonly chat: Chat;
  readonly emulator: Emulator;
  readonly numbers: readonly BusinessNumber[];
  /** Opens the chat with a number of the business. */
  readonly onBusiness: (phoneNumberId: string) => void;
  /** Undefined: the chat with the business. */
  readonly groupId: string | undefined;
  readonly onGroup: (groupId: string | undefined) => void;
  readonly onNumber?: ((phone: string) => void) | undefined;
  readonly onAction: (action: Promise<void>) => Promise<void>;
}

/** The id of a group by its name: the same name joins the same group. */
const groupIdOf = (subject: string): string =>
  subject
    .trim()
    .toLowerCase()
    .replace(/[^\w-]+/g, '-')
    .slice(0, 60);

/** Actions of a phone: go offline, block the business, change the number, join groups. */
export function PhoneMenu({ phone, name, chat, emulator, groupId, onGroup, onNumber, onAction, ...more }: Props) {
  const { t } = useTexts();
  const { numbers, onBusiness } = more;
  const [dialog, setDialog] = useState<'number' | 'group'>();
  const { isOffline, isBlocking, groups } = chat;
  const chats: MenuItem[] =
    groups.length === 0 && numbers.length < 2
      ? []
      : [
          ...numbers.map(number => ({
            id: number.phoneNumberId,
            label: numbers.length < 2 ? number.name : `${number.name} ${number.phone}`,
            isChecked: groupId === undefined && number.phoneNumberId === chat.number.phoneNumberId,
            onSelect: () => onBusiness(number.phoneNumberId),
          })),
          ...groups.map(group => ({
            id: group.groupId,
            label: group.subject,
            isChecked: group.groupId === groupId,
            onSelect: () => onGroup(group.groupId),
          })),
        ];
  const change = async (value: string): Promise<void> => {
    setDialog(undefined);
    if (dialog === 'number') {
      await onAction(emulator.inbound({ type: 'system', from: phone, profileName: name, newPhone: value }));
      onNumber?.(value);
    } else {
      const id = groupIdOf(value) || 'group';
      await onAction(emulator.join(phone, { groupId: id, subject: value }));
      onGroup(id);
    }
  };
  return (
    <>
      <Menu
        label={t('phone.menu', { name })}
        buttonClass="icon-button small"
        button={<Icon name="more" size={24} />}
        items={[
          {
            id: 'offline',
            label: t('phone.offline'),
            isChecked: isOffline,
            onSelect: () => void onAction(emulator.setPhone(phone, { isOffline: !isOffline })),
          },
          {
            id: 'block',
            label: t('phone.block'),
            isChecked: isBlocking,
            onSelect: () => void onAction(emulator.setPhone(phone, { isBlocking: !isBlocking })),
          },
          ...(onNumber ? [{ id: 'number', label: t('phone.changeNumber'), onSelect: () => setDialog('number') }] : []),
          { id: 'group', label: t('phone.joinGroup'), onSelect: () => setDialog('group') },
          ...chats.map((item, index) => ({ ...item, beginsGroup: index === 0 })),
        ]}
      />
      {dialog !== undefined && (
        <Prompt
          title={t(dialog === 'number' ? 'phone.changeNumber' : 'phone.joinGroup')}
          label={t(dialog === 'number' ? 'phone.newNumber' : 'phone.groupName')}
          placeholder={dialog === 'number' ? '+14155550123' : t('phone.groupExample')}
          pattern={dialog === 'number' ? /^\+\d{7,15}$/ : /\S/}
          onClose={() => setDialog(undefined)}
          onValue={value => void change(value)}
        />
      )}
    </>
  );
}

interface PromptProps {
  readonly title: string;
  readonly label: string;
  readonly placeholder: string;
  readonly pattern: RegExp;
  readonly onClose: () => void;
  readonly onValue: (value: string) => void;
}

/** Asks for one line of text. */
function Prompt({ title, label, placeholder, pattern, onClose, onValue }: PromptProps) {
  const { t } = useTexts();
  const [value, setValue] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onValue(value.trim());
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label={label} value={value} onChange={setValue} placeholder={placeholder} isRequired />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={!pattern.test(value.trim())}>
            {t('save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
