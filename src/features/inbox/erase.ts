import { NIL_UUID } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';
import { peopleOf } from '../../network/cloud-api/people.ts';
import { withoutPart, withoutPeople } from '../../network/cloud-api/without-people.ts';
import { parseStorable } from '../../platform/json.ts';
import {
  lockBodies,
  lockChanges,
  lockUnrouted,
  rewriteChanges,
  rewriteUnrouted,
  rewriteWebhooks,
} from './erase.sql.ts';
import { findWebhooksOf, personKey } from './people.ts';

/** The people to remove from webhooks. */
export interface PeopleInWebhooks {
  /** Numbers as `phoneKey` folds them, business-scoped user ids. */
  readonly identities: ReadonlySet<string>;
  /** Numbers that belonged to the person for part of the time. */
  readonly shared: readonly { readonly identity: string; belongsToContact(atMs: number): boolean }[];
}

export interface ErasedWebhooks {
  /** Number of rewritten rows. */
  readonly count: number;
  /** Cursor of the next page; undefined after the last page. */
  readonly after: string | undefined;
}

/** Removes people from a page of raw webhooks; data of other people is kept. */
export async function eraseWebhooks(
  trx: Db,
  tenantId: number,
  people: PeopleInWebhooks,
  limit: number,
  after: string | undefined,
): Promise<ErasedWebhooks> {
  const identities = identitiesOf(people);
  const found = await findWebhooksOf(trx, tenantId, identities, limit, after);
  // The row lock waits for a worker that is processing the webhook.
  const locked = await lockBodies(
    trx,
    tenantId,
    found.map(({ id }) => id),
  );
  const rewritten = locked.flatMap(({ id, body }) => {
    const remaining = prunedBody(body, people);
    return remaining === undefined ? [] : [rewrittenWebhook(tenantId, id, remaining, identities)];
  });
  if (rewritten.length > 0) await rewriteWebhooks(trx, tenantId, rewritten);
  return { count: rewritten.length, after: found.length < limit ? undefined : found.at(-1)?.id };
}

/** Removes people from a page of unhandled changes. */
export async function eraseChanges(
  trx: Db,
  tenantId: number,
  people: PeopleInWebhooks,
  limit: number,
  after = NIL_UUID,
): Promise<ErasedWebhooks> {
  const changes = await lockChanges(trx, tenantId, limit, after);
  const rewritten = changes.flatMap(({ id, raw }) => {
    const remaining = pruned(raw, people);
    return remaining === undefined ? [] : [{ id, raw: remaining }];
  });
  if (rewritten.length > 0) await rewriteChanges(trx, tenantId, rewritten);
  return { count: rewritten.length, after: changes.length < limit ? undefined : changes.at(-1)?.id };
}

/** Removes people from a page of unrouted changes, because their number may be connected later. */
export async function eraseUnrouted(
  trx: Db,
  _tenantId: number,
  people: PeopleInWebhooks,
  limit: number,
  after = NIL_UUID,
): Promise<ErasedWebhooks> {
  const changes = await lockUnrouted(trx, limit, after);
  const rewritten = changes.flatMap(({ id, raw }) => {
    const remaining = prunedBody(raw, people);
    return remaining === undefined ? [] : [{ id, raw: Buffer.from(JSON.stringify(remaining)) }];
  });
  if (rewritten.length > 0) await rewriteUnrouted(trx, rewritten);
  return { count: rewritten.length, after: changes.length < limit ? undefined : changes.at(-1)?.id };
}

/** The new body of a webhook, with the people whose index entries are to be removed. */
export function rewrittenWebhook(tenantId: number, id: string, body: unknown, identities: readonly string[]) {
  const named = peopleOf(body);
  const people = identities.filter(identity => !named.has(identity)).map(identity => personKey(tenantId, identity));
  return { id, body: Buffer.from(JSON.stringify(body)), people };
}

const identitiesOf = ({ identities, shared }: PeopleInWebhooks): string[] => [
  ...identities,
  ...shared.map(({ identity }) => identity),
];

/** @returns undefined if nothing has to be removed */
function pruned(raw: unknown, { identities, shared }: PeopleInWebhooks): unknown {
  const whole = withoutPeople(raw, identities) ?? raw;
  const remaining = shared.reduce(
    (part, { identity, belongsToContact }) => withoutPart(part, identity, (_element, atMs) => !belongsToContact(atMs)),
    whole,
  );
  return remaining === raw ? undefined : remaining;
}

/** Empties a body that is not JSON if it contains one of the identities. */
function prunedBody(body: Buffer, people: PeopleInWebhooks): unknown {
  const parsed = parseStorable(body.toString('utf8'));
  if (parsed !== undefined) return pruned(parsed, people);
  const text = body.toString('utf8');
  return identitiesOf(people).some(identity => text.includes(identity.replace(/^\+/, ''))) ? {} : undefined;
}
