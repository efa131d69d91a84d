import { rowId, selectionOf } from '../openapi/schema.ts';
import { type Route, requireRow, route } from '../runtime/route.ts';
import { GetTemplateDocument } from '../wire/documents.generated.ts';
import { TEMPLATE_OVERRIDES, templateList, templateRowBy } from '../wire/templates.ts';
import { legacyTime } from '../wire/values.ts';

const templateRow = templateRowBy(legacyTime);

export const templateRoutes: readonly Route[] = [
  templateList(templateRow),
  route({
    method: 'GET',
    path: '/templates/:id',
    resource: 'Template',
    document: GetTemplateDocument,
    params: { id: rowId('Id of the template in this gateway, not on the network.') },
    answer: selectionOf('template', TEMPLATE_OVERRIDES),
    variables: ({ id }) => ({ id }),
    respond: ({ template }) => ({ message: 'Template', data: templateRow(requireRow(template, 'Template')) }),
  }),
];
