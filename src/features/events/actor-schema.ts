import { brandWithType } from '@pothos/core';
import type { AuthorKind } from '../../core/author.ts';
import { callerOf } from '../../core/principal.ts';
import type { Scope } from '../../core/scopes.ts';
import { Actor } from '../../schema/actor.ts';
import { builder } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import { botLoader } from '../bots/schema.ts';
import { campaignLoader } from '../campaigns/loaders.ts';
import { integrationLoader } from '../integrations/loaders.ts';
import { Author } from '../tenancy/audit/schema.ts';
import { staffLoader } from '../tenancy/staff/schema.ts';
import { tokenLoader } from '../tenancy/tokens/schema.ts';

interface ActorType {
  readonly name: string;
  readonly scope: Scope;
  readonly loader: (context: Context) => { load(id: number): Promise<object | undefined> };
}

/** The objects of authors, for the kinds that have one. */
const ACTORS: Partial<Readonly<Record<AuthorKind, ActorType>>> = {
  token: { name: 'AccessToken', scope: 'tokens:read', loader: tokenLoader },
  staff: { name: 'StaffMember', scope: 'staff:read', loader: staffLoader },
  bot: { name: 'Bot', scope: 'bots:read', loader: botLoader },
  campaign: { name: 'Campaign', scope: 'campaigns:read', loader: campaignLoader },
  integration: { name: 'Integration', scope: 'integrations:read', loader: integrationLoader },
};

async function actorOf(context: Context, kind: AuthorKind, id: number | null): Promise<object | null> {
  const type = ACTORS[kind];
  if (!type || id === null || !callerOf(context).scopes.has(type.scope)) return null;
  const row = await type.loader(context).load(id);
  if (!row) return null;
  brandWithType(row, type.name as never);
  return row;
}

builder.objectField(Author, 'actor', t =>
  t.field({
    type: Actor,
    nullable: true,
    description:
      'The token, staff member, bot, campaign or integration as it is now. Null for other kinds, once it was deleted, and if the token may not read it.',
    resolve: ({ kind, id }, _args, context) => actorOf(context, kind, id),
  }),
);
