import type { z } from 'zod';
import { echoOf, type SchemaOverrides } from '../openapi/schema.ts';
import {
  alias,
  flag,
  list,
  object,
  requiredChoice,
  requiredNumber,
  requiredObject,
  requiredText,
  requiredWhole,
  text,
  texts,
} from '../runtime/fields.ts';
import type { ListFields } from '../runtime/query.ts';
import type { BotFilter, BotOrderField, BotRowFragment } from './documents.generated.ts';
import { BUTTONS, buttonsInput, CTA_URL, SECTIONS, sectionsInput } from './interactive.ts';
import { MEDIA_KINDS } from './sending.ts';
import { rowKey, type WriteTime } from './values.ts';

const KINDS = { message: 'MESSAGE', template: 'TEMPLATE' } as const;

export const TRIGGERS = {
  exact: 'EXACT',
  contains: 'CONTAINS',
  starts_with: 'STARTS_WITH',
  first_message: 'FIRST_MESSAGE',
  any: 'ANY',
  regex: 'REGEX',
} as const;

/** Filter and sort fields of bots. */
export const BOT_LIST: ListFields<BotFilter, BotOrderField> = {
  filters: {
    name: ['name', 'text'],
    kind: ['kind', KINDS],
    trigger: ['trigger', TRIGGERS],
    is_enabled: ['isEnabled', 'flag'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', priority: 'PRIORITY', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

const LINK = text({ maxLength: 2_000 });
const MEDIA_ID = text({ description: 'The id of an upload; the network deletes it after 30 days.' });
const file = () => object({ link: LINK, media_id: MEDIA_ID });
const named = () => requiredObject({ name: requiredText(), value: requiredText({ maxLength: 1_024 }) });

/** A template with its values, by the fields of bots and campaigns. */
export const TEMPLATE_FIELDS = {
  name: requiredText(),
  language: requiredText(),
  header: object({
    text: text({ maxLength: 60, description: 'Value of the variable in a text header.' }),
    image: file(),
    video: file(),
    document: object({ link: LINK, media_id: MEDIA_ID, filename: text({ maxLength: 255 }) }),
    location: object({
      latitude: requiredNumber(),
      longitude: requiredNumber(),
      name: text(),
      address: text(),
    }),
  }),
  body: texts(),
  body_by_name: list(named()),
  buttons: list(requiredObject({ index: requiredWhole(), value: requiredText({ maxLength: 128 }) })),
};

/** The reply of a bot. The operation decides which parts may be combined. */
export const REPLY = requiredObject({
  text: object(
    {
      text: alias(
        requiredText({
          maxLength: 4_096,
          description: 'Text of the reply, with its merge fields; limits as in POST /messages/text.',
        }),
        'message',
      ),
      preview_url: flag({ description: 'Whether WhatsApp shows a preview of the first link.' }),
    },
    { description: 'A text reply.' },
  ),
  interactive: object({
    body: requiredText(),
    header: text(),
    footer: text(),
    buttons: BUTTONS.nullish(),
    list: object({ button: requiredText({ maxLength: 20 }), sections: SECTIONS }),
    cta_url: CTA_URL.nullish(),
  }),
  media: object({
    kind: requiredChoice(MEDIA_KINDS),
    link: LINK,
    media_id: MEDIA_ID,
    caption: text(),
    filename: text(),
  }),
  template: object(TEMPLATE_FIELDS),
});

/** A reply in GraphQL's names. */
export function replyInput({ interactive, ...others }: z.output<typeof REPLY>) {
  if (!interactive) return { ...others, interactive };
  const { buttons, list: menu, ...texts } = interactive;
  return {
    ...others,
    interactive: {
      ...texts,
      buttons: buttons && buttonsInput(buttons),
      list: menu && { ...menu, sections: sectionsInput(menu.sections) },
    },
  };
}

/** Fields of a bot that differ from the document's selection: the reply is shown as it was sent. */
export const BOT_OVERRIDES: SchemaOverrides = { with: { reply: echoOf(REPLY, 'BotReplyInput').optional() } };

/** A bot in REST. Fields that were not read stay undefined, which JSON omits. */
export const botRowBy = (time: WriteTime) => (bot: BotRowFragment) => ({
  ...bot,
  id: rowKey(bot.id),
  kind: bot.kind?.toLowerCase(),
  trigger: bot.trigger?.toLowerCase(),
  last_replied_at: time(bot.last_replied_at),
  last_refusal: bot.last_refusal && { ...bot.last_refusal, refused_at: time(bot.last_refusal.refused_at) },
  created_at: time(bot.created_at),
  updated_at: time(bot.updated_at),
});
