import { type Body, said } from '../body.ts';
import type { BotReplyInput, BotTemplateInput } from '../documents.generated.ts';
import {
  type bit,
  choice,
  flag,
  given,
  integer,
  list,
  number,
  object,
  optional,
  required,
  type Shape,
  text,
} from '../openapi/shape.ts';
import { items } from './interactive.ts';

const MEDIA_KINDS = { image: 'IMAGE', video: 'VIDEO', audio: 'AUDIO', document: 'DOCUMENT' } as const;

const mediaId = text('The id of an upload; the network forgets it after 30 days.');
const header = 'input.reply.template.header';

/** A reply in a body: as GraphQL has it, but that a text is called a text here too. */
export const REPLY_BODY: Shape = given('input.reply', {
  without: ['message'],
  with: {
    text: object(
      {
        text: required(text('As in POST /messages/text, with its merge fields.', { max: 4_096 })),
        preview_url: flag('Show a preview of the first link.'),
      },
      'A text.',
    ),
    media: given('input.reply.media', { with: { media_id: mediaId } }),
    template: given('input.reply.template', {
      with: {
        header: given(header, {
          without: ['message'],
          with: {
            text: text('For the variable of a text header.', { max: 60 }),
            image: given(`${header}.image`, { with: { media_id: mediaId } }),
            video: given(`${header}.video`, { with: { media_id: mediaId } }),
            document: given(`${header}.document`, { with: { media_id: mediaId } }),
          },
        }),
      },
    }),
  },
});

const words = (about: string): Shape => optional(text(about));

const answeredFile = optional(
  object(
    {
      link: words('Where the network fetches it.'),
      media_id: words('The id of the upload.'),
      filename: words('What a document is called.'),
    },
    'The file of the header.',
  ),
);

/**
 * A reply in an answer: what was given, in the same shape, so that it can be sent back as it is.
 * @param truth how the version of the contract writes a truth value
 */
export const replyAnswer = (truth: typeof flag | typeof bit): Shape =>
  optional(
    object(
      {
        text: optional(
          object({ text: text('The text.'), preview_url: optional(truth('Whether a preview is shown.')) }, 'A text.'),
        ),
        interactive: optional(
          object(
            {
              body: text('The text.'),
              header: words('The line above it.'),
              footer: words('The line below it.'),
              buttons: optional(
                list(
                  object({ id: text('What comes back.'), title: text('What stands on it.') }),
                  'Buttons that answer.',
                ),
              ),
              list: optional(
                object(
                  {
                    button: text('What stands on the button.'),
                    sections: list(
                      object({
                        title: words('The title.'),
                        rows: list(
                          object({
                            id: text('What comes back.'),
                            title: text('What it is called.'),
                            description: words('What stands below.'),
                          }),
                        ),
                      }),
                    ),
                  },
                  'A list to choose from.',
                ),
              ),
              cta_url: optional(
                object({ display_text: text('What stands on it.'), url: text('Where it leads.') }, 'A link.'),
              ),
            },
            'A text with something to choose.',
          ),
        ),
        media: optional(
          object(
            {
              kind: choice(Object.keys(MEDIA_KINDS), 'What it is sent as.'),
              link: words('Where the network fetches it.'),
              media_id: words('The id of the upload.'),
              caption: words('The caption.'),
              filename: words('What a document is called.'),
            },
            'A file.',
          ),
        ),
        template: optional(
          object(
            {
              name: text('The name of the template.'),
              language: text('Its language.'),
              header: optional(
                object(
                  {
                    text: words('For the variable of a text header.'),
                    image: answeredFile,
                    video: answeredFile,
                    document: answeredFile,
                    location: optional(
                      object({
                        latitude: number('Degrees.'),
                        longitude: number('Degrees.'),
                        name: words('What it is called.'),
                        address: words('Its address.'),
                      }),
                    ),
                  },
                  'What is given for the header.',
                ),
              ),
              body: optional(list(text('A value.'), 'The values of the variables in their order.')),
              body_by_name: optional(list(object({ name: text('The variable.'), value: text('Its value.') }))),
              buttons: optional(list(object({ index: integer('Its place.'), value: text('What it carries.') }))),
            },
            'A template.',
          ),
        ),
      },
      'What it answers with: one of these.',
    ),
  );

/** What errors of GraphQL would be called otherwise. */
export const REPLY_NAMES: Readonly<Record<string, string>> = {
  'reply.text': 'reply.text',
  'reply.text.text': 'reply.text.text',
  'reply.template.header.text': 'reply.template.header.text',
};

/** Reads what a bot is to answer with. Which of them it may be, and how long, is GraphQL's to say. */
export function readReply(body: Body): BotReplyInput | undefined {
  const reply = body.object('reply');
  if (!reply) return undefined;
  const [words, interactive, media, template] = [
    reply.object('text'),
    reply.object('interactive'),
    reply.object('media'),
    reply.object('template'),
  ];
  return said({
    text: words && said({ text: words.requiredText('text', 'message'), previewUrl: words.flag('preview_url') }),
    interactive: interactive && readInteractive(interactive),
    media: media && readMedia(media),
    template: template && readTemplate(template),
  });
}

function readInteractive(body: Body): NonNullable<BotReplyInput['interactive']> {
  const list = body.object('list');
  const link = body.object('cta_url');
  const titled = (item: Body) => ({ id: item.requiredText('id'), title: item.requiredText('title') });
  return said({
    body: body.requiredText('body'),
    header: body.text('header'),
    footer: body.text('footer'),
    buttons: body.has('buttons') ? items(body, 'buttons').map(titled) : undefined,
    list: list && {
      button: list.requiredText('button'),
      sections: items(list, 'sections').map(section =>
        said({
          title: section.text('title'),
          rows: items(section, 'rows').map(row => said({ ...titled(row), description: row.text('description') })),
        }),
      ),
    },
    ctaUrl: link && { displayText: link.requiredText('display_text'), url: link.requiredText('url') },
  });
}

function readMedia(body: Body): NonNullable<BotReplyInput['media']> {
  const kind = body.choice(MEDIA_KINDS, 'kind');
  if (kind == null && !Object.hasOwn(body.errors.fields, body.path('kind')))
    body.errors.add(body.path('kind'), 'Is required.');
  return said({
    kind: kind ?? 'DOCUMENT',
    link: body.text('link'),
    mediaId: body.text('media_id'),
    caption: body.text('caption'),
    filename: body.text('filename'),
  });
}

function readTemplate(body: Body): BotTemplateInput {
  const header = body.object('header');
  return said({
    name: body.requiredText('name'),
    language: body.requiredText('language'),
    header: header && readHeader(header),
    body: body.texts('body'),
    bodyByName: body.has('body_by_name')
      ? items(body, 'body_by_name').map(one => ({ name: one.requiredText('name'), value: one.requiredText('value') }))
      : undefined,
    buttons: body.has('buttons')
      ? items(body, 'buttons').map(one => ({ index: one.whole('index') ?? 0, value: one.requiredText('value') }))
      : undefined,
  });
}

function readHeader(header: Body): NonNullable<BotTemplateInput['header']> {
  const file = (name: string) => {
    const one = header.object(name);
    return one && said({ link: one.text('link'), mediaId: one.text('media_id') });
  };
  const document = header.object('document');
  const place = header.object('location');
  return said({
    text: header.text('text'),
    image: file('image'),
    video: file('video'),
    document:
      document &&
      said({ link: document.text('link'), mediaId: document.text('media_id'), filename: document.text('filename') }),
    location:
      place &&
      said({
        latitude: degrees(place, 'latitude'),
        longitude: degrees(place, 'longitude'),
        name: place.text('name'),
        address: place.text('address'),
      }),
  });
}

function degrees(place: Body, name: string): number {
  const words = place.requiredText(name);
  const value = Number(words);
  if (words !== '' && !Number.isFinite(value)) place.errors.add(place.path(name), 'Must be a number.');
  return Number.isFinite(value) ? value : 0;
}
