import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { networkRefusal } from '../../../../src/features/templates/sync/network-refusal.ts';
import { HeldLane } from '../../../../src/lanes/held-lane.ts';
import { claimLanes } from '../../../../src/lanes/store/lanes.sql.ts';
import { NetworkCallError, type NetworkError } from '../../../../src/network/network.ts';
import { instantOf } from '../../../../src/platform/clock.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { describedEvents, type Pages, readPages, template, templateEvents } from './read-pages.ts';

const SYNC = `mutation {
  syncTemplates(input: {}) {
    created: createdCount updated: updatedCount removed: removedCount unchanged: unchangedCount total: totalCount
    userErrors { code message path }
  }
}`;
const LANGUAGES = ['en_US', 'de', 'pt_BR'];

let gateway: TestGateway;
let tenant: TestTenant;
/** No worker runs: nothing is read but what a test asks for. The first tenant's account has 400 templates in three languages. */
beforeAll(async () => {
  const templates = Array.from({ length: 400 }, (_, index) => `order_${index}`).flatMap(name =>
    LANGUAGES.map(
      language =>
        ({
          name,
          language,
          category: 'UTILITY',
          components: [{ type: 'BODY', text: `${name} {{1}}!` }],
        }) as const,
    ),
  );
  gateway = await startGateway({ role: 'gateway', templates });
});
beforeEach(async () => {
  tenant = await gateway.addTenant();
});
afterAll(() => gateway.stop());

const told = (of: TestTenant) => describedEvents(gateway, of);
const namesOf = async ({ id }: TestTenant): Promise<string[]> =>
  (
    await gateway.database.query<{ name: string }>('select name from templates where tenant_id = $1 order by name', [
      id,
    ])
  ).map(row => row.name);

/** A sync that reads these pages instead of the network's. */
const read = (of: TestTenant, ...pages: Pages) => readPages(gateway, of, pages);

describe('a sync', () => {
  test('reads 1,200 templates in three languages over all pages; a second one writes no row and no event', async () => {
    const first = dataOf(await gateway.graphql(SYNC)).syncTemplates;
    expect(first).toMatchObject({ created: 1_200, updated: 0, removed: 0, unchanged: 0, total: 1_200 });
    expect(await templateEvents(gateway, gateway.tenant)).toHaveLength(1_200);
    // xmin is the transaction that wrote a row, xmax one that locked it.
    const rows = () =>
      gateway.database.query(
        'select name, language, xmin, xmax, ctid from templates where tenant_id = $1 order by 1, 2',
        [gateway.tenant.id],
      );
    const before = await rows();
    expect(before).toHaveLength(1_200);
    const second = dataOf(await gateway.graphql(SYNC)).syncTemplates;
    expect(second).toMatchObject({ created: 0, updated: 0, removed: 0, unchanged: 1_200, total: 1_200 });
    expect(await rows()).toEqual(before);
    expect(await templateEvents(gateway, gateway.tenant)).toHaveLength(1_200);
  });

  test('writes changes with events: updated for text and category, status_changed for status and removal', async () => {
    await read(tenant, [template('a'), template('b')], [template('c'), template('d')]);
    const counts = await read(
      tenant,
      [template('a', { status: 'PAUSED' }), template('b', { category: 'MARKETING', components: [] })],
      [template('c', { status: 'REJECTED', statusReason: 'INVALID_FORMAT', quality: 'RED' }), template('e')],
    );
    expect(counts).toEqual({ created: 1, updated: 3, removed: 1, unchanged: 0, total: 4 });
    const after = (await told(tenant)).slice(4);
    expect(after).toEqual([
      ['status_changed', 'a', 'PAUSED', { status: 'APPROVED' }],
      ['updated', 'b', 'APPROVED', { category: 'UTILITY', components: [{ type: 'BODY', text: 'Text of b' }] }],
      ['updated', 'c', 'REJECTED', { quality: null }],
      ['status_changed', 'c', 'REJECTED', { status: 'APPROVED', status_reason: null }],
      ['created', 'e', 'APPROVED'],
      ['status_changed', 'd', 'DELETED', { status: 'APPROVED' }],
    ]);
    expect(await namesOf(tenant)).toEqual(['a', 'b', 'c', 'e']);
  });

  test('keeps unknown values and components of the network', async () => {
    const odd = template('odd', {
      status: 'HIBERNATING',
      category: 'POETRY',
      parameterFormat: 'SUNG',
      quality: 'PURPLE',
      components: [
        { type: 'HOLOGRAM', rays: [1, { far: true }] },
        { type: 'BODY', text: 'Hi' },
      ],
    });
    await read(tenant, [odd]);
    const document =
      '{ templates { nodes { status networkStatus category networkCategory parameterFormat quality raw } } }';
    expect(dataOf(await gateway.graphql(document, {}, tenant.token)).templates.nodes).toEqual([
      {
        status: 'OTHER',
        networkStatus: 'HIBERNATING',
        category: 'OTHER',
        networkCategory: 'POETRY',
        parameterFormat: 'POSITIONAL',
        quality: 'UNKNOWN',
        raw: odd.components,
      },
    ]);
  });

  test('does not insert templates pending deletion, and removes deleted ones', async () => {
    await read(tenant, [template('kept'), template('gone')]);
    const counts = await read(tenant, [
      template('kept', { status: 'PENDING_DELETION' }),
      template('gone', { status: 'DELETED' }),
      template('new', { status: 'PENDING_DELETION' }),
    ]);
    expect(counts).toMatchObject({ created: 0, updated: 1, removed: 1 });
    expect(await namesOf(tenant)).toEqual(['kept']);
  });

  test('counts a template on two pages once', async () => {
    expect(await read(tenant, [template('a')], [template('a'), template('b')])).toMatchObject({
      created: 2,
      unchanged: 0,
      total: 2,
    });
  });

  test('of an account without templates removes the stored ones', async () => {
    await read(tenant, [template('a')]);
    expect(await read(tenant, [])).toEqual({ created: 0, updated: 0, removed: 1, unchanged: 0, total: 0 });
  });
});

describe('an interrupted sync', () => {
  const quota: NetworkError = {
    code: 80_007,
    title: 'Rate limit',
    details: 'Too many calls',
    retryClass: 'retry_after_wait',
    retryAfterMs: 7 * 60_000,
  };

  test('keeps the pages it read and removes nothing; the next sync completes it', async () => {
    await read(tenant, [template('a'), template('b')]);
    await expect(
      read(tenant, [template('a', { status: 'PAUSED' }), template('c')], new NetworkCallError('templates: reset')),
    ).rejects.toThrow('reset');
    expect(await namesOf(tenant)).toEqual(['a', 'b', 'c']);
    expect(await read(tenant, [template('a', { status: 'PAUSED' }), template('c')])).toEqual({
      created: 0,
      updated: 0,
      removed: 1,
      unchanged: 2,
      total: 2,
    });
  });

  const { retryAfterMs: _time, ...withoutTime } = quota;

  test.each([
    ['a quota: when the network says', quota, 7 * 60],
    ['a quota without a time: in an hour', withoutTime, 3_600],
    ['no answer: in a minute', undefined, 60],
  ])('is due again. %s', async (_why, error, seconds) => {
    await expect(read(tenant, new NetworkCallError('templates: x', error))).rejects.toThrow('x');
    const [row] = await gateway.database.query(
      'select round(extract(epoch from due_at - now()))::int as seconds, run_id, failures, error from template_syncs where tenant_id = $1',
      [tenant.id],
    );
    expect(row).toMatchObject({ run_id: null, failures: 1, error: 'templates: x' });
    expect(Math.abs(row?.['seconds'] - seconds)).toBeLessThan(10);
  });

  test('answers with an error code for each cause', () => {
    const refused = (error?: NetworkError, field?: string) =>
      networkRefusal(new NetworkCallError('templates: x', error), field);
    expect(refused(quota)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { retry_after: 420, provider: { code: 80_007 } },
    });
    expect(refused()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(refused({ ...quota, code: 190, retryClass: 'auth' })).toMatchObject({ code: 'MESSAGING_NOT_CONFIGURED' });
    expect(refused({ ...quota, code: 100, retryClass: 'fix_request' }, 'components')).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { components: ['Too many calls'] },
    });
    expect(networkRefusal(new RangeError('ours'))).toBeInstanceOf(RangeError);
  });

  test('with a wrong access token answers MESSAGING_NOT_CONFIGURED', async () => {
    await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
      method: 'POST',
      body: JSON.stringify({
        phoneNumberId: tenant.phoneNumberId,
        wabaId: tenant.wabaId,
        displayPhoneNumber: '+1 555 078 0000',
        verifiedName: 'x',
        accessToken: 'another',
      }),
    });
    expect(codeOf(await gateway.graphql(SYNC, {}, tenant.token))).toBe('MESSAGING_NOT_CONFIGURED');
  });

  test('without a channel answers MESSAGING_NOT_CONFIGURED', async () => {
    const { token } = await gateway.addTenant({ channel: false });
    expect(codeOf(await gateway.graphql(SYNC, {}, token))).toBe('MESSAGING_NOT_CONFIGURED');
  });
});

describe('concurrent syncs of one account', () => {
  test('run one after the other, with one event per template', async () => {
    await fetch(`${gateway.emulator.url}/v24.0/${tenant.wabaId}/message_templates`, {
      method: 'POST',
      headers: { authorization: `Bearer access-${tenant.slug.split('-')[1]}` },
      body: JSON.stringify({
        name: 'one',
        language: 'en_US',
        category: 'UTILITY',
        components: [{ type: 'BODY', text: 'Hi' }],
      }),
    });
    const answers = await Promise.all(Array.from({ length: 5 }, () => gateway.graphql(SYNC, {}, tenant.token)));
    const counts = answers.map(answer => dataOf(answer).syncTemplates);
    expect(counts.map(({ created }) => created).sort()).toEqual([0, 0, 0, 0, 1]);
    expect(counts.every(({ total }) => total === 1)).toBe(true);
    expect((await templateEvents(gateway, tenant)).filter(({ type }) => type === 'template.created')).toHaveLength(1);
  });

  test('do not overlap: a second one does nothing while the first reads', async () => {
    const during: unknown[] = [];
    await read(tenant, [template('a')], async () => void during.push(await read(tenant, [template('b')])), [
      template('c'),
    ]);
    expect(during).toEqual([undefined]);
    expect(await namesOf(tenant)).toEqual(['a', 'c']);
  });

  test('are taken over after the lease expires, and then write nothing', async () => {
    const expire = () =>
      gateway.database.query(
        "update template_syncs set lease_expires_at = now() - interval '1 second' where tenant_id = $1",
        [tenant.id],
      );
    const slow = read(
      tenant,
      [template('a')],
      async () => {
        await expire();
        await read(tenant, [template('a'), template('b')]);
      },
      [template('late')],
    );
    await expect(slow).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await namesOf(tenant)).toEqual(['a', 'b']);
    const [row] = await gateway.database.query('select failures, run_id from template_syncs where tenant_id = $1', [
      tenant.id,
    ]);
    expect(row).toEqual({ failures: 0, run_id: null });
  });

  test.each(['at its end', 'after a failure'])(
    'of a worker that has lost its lane keeps what was read, and writes nothing more %s',
    async how => {
      const query = (text: string) => gateway.database.query<Record<string, unknown>>(text, [tenant.id]);
      await read(tenant, [template('gone')]);
      await query("update template_syncs set due_at = now() - interval '1 second' where tenant_id = $1");
      const { db, clock } = gateway.gateway.resources;
      const wanted = { queue: 'template-syncs', tenantId: tenant.id, key: `${tenant.id}:${tenant.wabaId}` };
      const take = async () => {
        const [taken] = await claimLanes(db.write, randomUUID(), [wanted], 60_000);
        if (!taken) throw new Error('The lane is not free.');
        const host = { clock, leaseMs: 60_000, isSlotWanted: () => false, renewSoon: () => undefined };
        return new HeldLane(taken, instantOf(clock), new AbortController().signal, host);
      };
      const state = () =>
        query(
          'select run_id is not null as is_running, failures, due_at, finished_at from template_syncs where tenant_id = $1',
        );
      const lane = await take();
      let before: unknown;
      const loseLane = async (): Promise<void> => {
        await query("update lanes set lease_until = clock_timestamp() - interval '1 second' where tenant_id = $1");
        await take();
        before = await state();
        if (how === 'after a failure') throw new Error('The network is away.');
      };
      const lost = readPages(gateway, tenant, [[template('read')], loseLane], lane);
      await expect(lost).rejects.toThrow(how === 'after a failure' ? 'is away' : 'taken over');
      expect(await namesOf(tenant)).toEqual(['gone', 'read']);
      expect(await state()).toEqual(before);
      // Nor does it begin anew.
      await query(
        "update template_syncs set run_id = null, lease_expires_at = null, due_at = now() - interval '1 second' where tenant_id = $1",
      );
      expect(await readPages(gateway, tenant, [[template('again')]], lane)).toBeUndefined();
    },
  );

  test('do not remove a template that was created while they read', async () => {
    await read(tenant, [template('a')], async () => {
      await gateway.database.query(
        `insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components, created_at)
         values ($1, $2, '77', 'made', 'de', 'UTILITY', 'PENDING', 'POSITIONAL', '[]', clock_timestamp() + interval '1 second')`,
        [tenant.id, tenant.wabaId],
      );
    });
    expect(await namesOf(tenant)).toEqual(['a', 'made']);
  });

  test('of two tenants with one business account each keep their own', async () => {
    const other = { ...(await gateway.addTenant()), wabaId: tenant.wabaId };
    await gateway.database.query('update channels set waba_id = $2 where tenant_id = $1', [other.id, other.wabaId]);
    await read(tenant, [template('shared')]);
    expect(await read(other, [template('shared'), template('other')])).toMatchObject({ created: 2 });
    expect(await read(tenant, [])).toMatchObject({ removed: 1 });
    expect(await namesOf(other)).toEqual(['other', 'shared']);
  });
});
