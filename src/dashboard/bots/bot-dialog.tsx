import { useState } from 'react';
import { useMutation } from 'urql';
import { type BotItemFragment, type BotTrigger, CreateBotDocument, UpdateBotDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Field } from '../ui/field.tsx';
import { atFields, FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { errorsOf } from '../ui/user-errors.tsx';

const TRIGGERS = [
  'CONTAINS',
  'EXACT',
  'STARTS_WITH',
  'REGEX',
  'FIRST_MESSAGE',
  'ANY',
] as const satisfies readonly BotTrigger[];

interface Props {
  /** Undefined: a new one. */
  readonly bot: BotItemFragment | undefined;
  readonly onClose: () => void;
}

/** A bot that replies with a text. Replies of other kinds keep theirs; everything else of them is edited here too. */
export function BotDialog({ bot, onClose }: Props) {
  const { t } = useTexts();
  const [created, create] = useMutation(CreateBotDocument);
  const [updated, update] = useMutation(UpdateBotDocument);
  const [name, setName] = useState(bot?.name ?? '');
  const [trigger, setTrigger] = useState<BotTrigger>(bot?.trigger ?? 'CONTAINS');
  const [words, setWords] = useState(bot?.pattern ?? bot?.keywords.join(', ') ?? '');
  const [text, setText] = useState(bot?.reply.__typename === 'TextContent' ? bot.reply.body : '');
  const isText = bot === undefined || bot.reply.__typename === 'TextContent';
  const hasWords = trigger !== 'ANY' && trigger !== 'FIRST_MESSAGE';
  const errors = created.data?.createBot?.userErrors ?? updated.data?.updateBot?.userErrors ?? [];
  const submit = async (): Promise<void> => {
    const keywords = words
      .split(',')
      .map(word => word.trim())
      .filter(Boolean);
    const rule = trigger === 'REGEX' ? { pattern: words } : hasWords ? { keywords } : {};
    const common = { name, trigger, ...rule };
    if (bot === undefined) {
      const { data } = await create({ input: { ...common, reply: { text: { text } } } });
      if (data?.createBot?.bot) onClose();
      return;
    }
    const { data } = await update({ input: { id: bot.id, ...common, ...(isText && { reply: { text: { text } } }) } });
    if (data?.updateBot?.bot) onClose();
  };
  return (
    <FormDialog
      title={bot ? t('edit', { name: bot.name }) : t('bots.new')}
      onClose={onClose}
      onSubmit={submit}
      isBusy={created.fetching || updated.fetching}
      errors={errors}
      isShown={atFields('name', 'keywords', 'pattern', 'reply')}
      failure={created.error ?? updated.error}
    >
      <Field label={t('name')} value={name} onChange={setName} error={errorsOf(errors, 'name')} isRequired />
      <Select label={t('bots.trigger')} value={trigger} onChange={value => setTrigger(value as BotTrigger)}>
        {TRIGGERS.map(each => (
          <option key={each} value={each}>
            {t(`trigger.${each}`)}
          </option>
        ))}
      </Select>
      {hasWords && (
        <Field
          label={trigger === 'REGEX' ? t('bots.pattern') : t('bots.keywords')}
          value={words}
          onChange={setWords}
          error={errorsOf(errors, 'keywords') ?? errorsOf(errors, 'pattern')}
          isRequired
        />
      )}
      {isText && (
        <Field
          label={t('bots.reply')}
          value={text}
          onChange={setText}
          rows={4}
          error={errorsOf(errors, 'reply')}
          hint={t('bots.replyHint')}
          isRequired
        />
      )}
    </FormDialog>
  );
}
