import { notFound } from '../../errors.ts';
import { GetTemplateDocument, ListTemplatesDocument } from '../documents.generated.ts';
import { globalId } from '../global-id.ts';
import { id, selected } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { readTemplateList, TEMPLATE, TEMPLATES, templateRowBy } from '../v2/templates.ts';
import { legacyTime } from '../wire-time.ts';

const templateRow = templateRowBy(legacyTime);

export const templateRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/templates',
    document: ListTemplatesDocument,
    list: TEMPLATES,
    answer: selected('templates.nodes', TEMPLATE),
    plan: call => {
      const list = readTemplateList(call);
      return {
        variables: { ...list },
        respond: ({ templates }) => ({
          message: 'Templates',
          data: templates.nodes.map(templateRow),
          page: { ...list, total: templates.totalCount },
        }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/templates/:id',
    document: GetTemplateDocument,
    params: { id: id("Our id of the template, and not the network's.") },
    answer: selected('template', TEMPLATE),
    plan: call => ({
      // A bare number would be looked for among the network's ids first.
      variables: { id: globalId('Template', call.id('Template')) },
      respond: ({ template }) => {
        if (!template) throw notFound('Template');
        return { message: 'Template', data: templateRow(template) };
      },
    }),
  }),
];
