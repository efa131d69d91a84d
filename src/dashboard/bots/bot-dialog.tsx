import { type FormEvent, useState } from 'react';
import { useMutation } from 'urql';
import { type BotItemFragment, type BotTrigger, CreateBotDocument, UpdateBotDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

const TRIGGERS = [
  'CONTAINS',
  'EXACT',
  'STARTS_WITH',
  'REGEX',
  'FIRST_MESSAGE',
  'ANY',
] as const satisfies readonly BotTrigger[];
const SHOWN = ['name', 'keywords', 'pattern', 'reply'];

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
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
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
    <Dialog title={bot ? t('edit', { name: bot.name }) : t('bots.new')} onClose={onClose}>
      <form className="form" onSubmit={event => void submit(event)}>
        <Field label={t('name')} value={name} onChange={setName} error={errorsOf(errors, 'name')} isRequired />
        <label className="field">
          <span>{t('bots.trigger')}</span>
          <select value={trigger} onChange={event => setTrigger(event.target.value as BotTrigger)}>
            {TRIGGERS.map(each => (
              <option key={each} value={each}>
                {t(`trigger.${each}`)}
              </option>
            ))}
          </select>
        </label>
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
        <UserErrors
          errors={errors.filter(({ path }) => !SHOWN.includes(path?.[0] ?? ''))}
          failure={created.error ?? updated.error}
        />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={created.fetching || updated.fetching}>
            {t('save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
