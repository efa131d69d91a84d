import { encodeGlobalId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { type AccountLane, listAccountLanes } from '../../lanes/store/overview.sql.ts';
import { builder } from '../../schema/builder.ts';
import { ACCOUNT_BACKLOGS, type QueueName, SERVED } from './backlogs.ts';

const QUEUES: Readonly<Record<QueueName, string>> = {
  outbox: 'Messages to be sent, a lane for each channel.',
  inbox: 'Webhooks of the network to be processed.',
  integrations: 'Payloads of shops, a lane for each integration.',
  media: 'Files to be fetched from the network, a lane for each channel.',
  exports: 'Exports to be written.',
  bots: 'Inbound messages for bots to evaluate, and answers to send.',
  'template-syncs': 'Business accounts whose templates are due for a sync, a lane for each.',
  campaigns: 'Recipients of running campaigns, a lane for each campaign.',
  'conversation-jobs': 'Updates of many conversations in the background.',
  webhooks: 'Deliveries to webhook endpoints.',
};

const LaneQueue = builder.enumType('LaneQueue', {
  description: 'The queue that a lane is a part of.',
  values: Object.fromEntries(
    Object.entries(QUEUES).map(([value, description]) => [
      value.toUpperCase().replace('-', '_'),
      { value: value as QueueName, description },
    ]),
  ),
});

const LaneState = builder.enumType('LaneState', {
  description: 'What a lane does at present.',
  values: {
    RUNNING: { description: 'A process drains it.' },
    WAITING: {
      description:
        'It has work, and no process has taken it yet. Longer than seconds: no worker runs, or all are busy.',
    },
    RESTING: { description: 'It pauses until `restsUntil`: the network asked for it, or turns failed.' },
    IDLE: { description: 'It has no work.' },
  } as const,
});

const stateOf = ({ is_held, rests_until, waiting, queue }: AccountLane): typeof LaneState.$inferType => {
  if (rests_until !== null) return 'RESTING';
  // Shards of webhooks serve all accounts: whether one is held says nothing about this account.
  if (is_held || (queue === 'webhooks' && waiting > 0)) return 'RUNNING';
  return waiting > 0 ? 'WAITING' : 'IDLE';
};

const Lane = builder.objectRef<AccountLane>('Lane').implement({
  description: 'A part of a queue that is drained in order, by one process at a time.',
  fields: t => ({
    queue: t.field({
      type: LaneQueue,
      description: 'The queue that it is a part of.',
      resolve: ({ queue }) => queue as QueueName,
    }),
    subjectId: t.id({
      nullable: true,
      description: 'Global id of the channel, integration or campaign that it serves; null if it serves the account.',
      resolve({ queue, key }, _args, context) {
        const node = SERVED[queue as QueueName];
        const id = key.split(':')[1];
        return node === undefined || id === undefined ? null : encodeGlobalId(node, tenantOf(context), id);
      },
    }),
    state: t.field({ type: LaneState, description: 'What the lane does at present.', resolve: stateOf }),
    waitingCount: t.exposeInt('waiting', { description: 'Number of entries in the queue.' }),
    oldestAt: t.expose('oldest_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the oldest entry of the queue waits; null if the queue is empty.',
    }),
    restsUntil: t.expose('rests_until', {
      type: 'DateTime',
      nullable: true,
      description: 'End of the pause; null if the lane does not pause.',
    }),
    failuresCount: t.exposeInt('failures', { description: 'Turns in a row that ended with an error.' }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'The error that ended the last turn, or the reason for a rest; null after a turn that succeeded.',
    }),
  }),
});

/** Points that the limits expect: a lane for each channel, and few others. */
const EXPECTED_LANES = 20;

builder.queryField('lanes', t =>
  t.field({
    type: [Lane],
    description:
      'Lists the queues of the account, with depth and state of each lane: those that were used or have work, the longest waiting first.',
    authScopes: { scope: 'channels:read' },
    extensions: { listSize: EXPECTED_LANES },
    resolve: (_root, _args, context) => listAccountLanes(context.db.read, tenantOf(context), ACCOUNT_BACKLOGS),
  }),
);
