import { resolveNodes } from '@pothos/plugin-relay';
import { invalid } from '../core/errors.ts';
import { decodeGlobalId } from '../core/global-ids.ts';
import { tenantOf } from '../core/principal.ts';
import { builder, isNode } from './builder.ts';

const MAX_NODES = 100;

/** `nodes` of Relay. The plugin's own field fails as a whole if one id has no type; this one returns null for that id. */
builder.queryField('nodes', t =>
  t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description: `Looks up objects by their global ids, at most ${MAX_NODES}. In the order of the ids; null where there is none, or the token may not read it.`,
    args: { ids: t.arg.idList({ required: true, description: 'Global ids of the objects, of any types.' }) },
    // The required scope depends on the type and is checked by its loader, which finds nothing without it.
    authScopes: { token: true },
    extensions: { listSize: MAX_NODES },
    resolve: (_root, { ids }, context, info) => {
      if (ids.length > MAX_NODES)
        throw invalid({ ids: [`Takes at most ${MAX_NODES} ids, not ${ids.length}.`] }, 'TOO_MANY');
      const found = ids.map(text => {
        const id = decodeGlobalId(text);
        return id?.tenantId === tenantOf(context) && isNode(info.schema.getType(id.typename)) ? id : null;
      });
      return resolveNodes(builder, context, info, found) as Promise<never[]>;
    },
  }),
);
