import { builder } from '../../../schema/builder.ts';
import { payloadOf, withUserErrors } from '../../../schema/payload.ts';
import { renderedTemplate } from './preview.ts';
import type { Rendered } from './render.ts';
import { RenderedTemplate, TemplateInput } from './send-schema.ts';

const TemplatePreview = payloadOf<{ rendered: Rendered }>(
  'TemplatePreview',
  'A template as a send would render it, or why it would be refused.',
  t => ({
    rendered: t.field({
      type: RenderedTemplate,
      nullable: true,
      description: 'The message as the recipient would see it; null if the send would be refused.',
      resolve: ({ rendered }) => rendered ?? null,
    }),
  }),
);

builder.queryField('previewTemplate', t =>
  t.field({
    type: TemplatePreview,
    description:
      'Renders a template as a send would, with the same errors, and sends nothing. Limits of the plan are not checked.',
    authScopes: { scope: 'messages:send' },
    args: {
      template: t.arg({ type: TemplateInput, required: true, description: 'The template with its values.' }),
      contactId: t.arg.id({
        description:
          'Contact whose merge fields, consent and channel apply. Without it, merge fields have no values, as for an unknown number.',
      }),
    },
    resolve: (_root, { template, contactId }, context) =>
      withUserErrors({ template, contactId }, async () => ({
        rendered: await renderedTemplate(context, template, contactId),
      })),
  }),
);
