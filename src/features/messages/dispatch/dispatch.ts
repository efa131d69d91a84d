import type DataLoader from 'dataloader';
import type { Config } from '../../../config.ts';
import { isOutboxHeld } from '../../../database/outbox-hold.sql.ts';
import { createBatchLoader } from '../../../lanes/batch-loader.ts';
import type { Lanes } from '../../../lanes/runtime.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import type { ChannelRef } from '../../channels/channel.ts';
import { credentialsOfMany, type OpenCredentials } from '../../channels/credentials.ts';
import { type Claimed, type ClaimRequest, claimDue } from './outbox.sql.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import type { SentMemory } from './sent-memory.ts';

/** Time between the timeout of a request and the end of its lease, for writing the outcome. */
const LEASE_MARGIN_MS = 5 * SECOND;
/** Lanes per statement, and concurrent statements of a kind; further requests wait for the next statement. */
const BATCH = { maxSize: 64, maxRunning: 2 };

/** Shared by the outbox lanes of a process: statements for several lanes, and the number of requests. */
export interface Dispatch {
  readonly resources: Resources;
  /** Channels at the start of a turn; undefined if unknown, or if the outbox is held. */
  readonly channels: DataLoader<ChannelRef, OpenCredentials | undefined>;
  readonly claims: DataLoader<ClaimRequest, Claimed[]>;
  readonly outcomes: OutcomeWriter;
  readonly sent: SentMemory;
  readonly lanes: Pick<Lanes, 'timeline' | 'suspectPromotion'>;
  /** Requests to the network that are running or wait for a connection. */
  calls: number;
}

export function createDispatch(resources: Resources, lanes: Dispatch['lanes'], sent: SentMemory): Dispatch {
  const { db, config } = resources;
  return {
    resources,
    channels: createBatchLoader<ChannelRef, OpenCredentials | undefined>(async refs => {
      const [isHeld, channels] = await Promise.all([isOutboxHeld(db.write), credentialsOfMany(resources, refs)]);
      return isHeld ? refs.map(() => undefined) : channels;
    }, BATCH),
    claims: createBatchLoader<ClaimRequest, Claimed[]>(
      requests => claimDue(db.write, requests, inDoubtMs(config), lanes),
      BATCH,
    ),
    outcomes: new OutcomeWriter(resources),
    sent,
    lanes,
    calls: 0,
  };
}

/**
 * Time in which the result of a call without a response is expected from its status webhook. A live process knows the result after
 * the request's timeout; after a crash only the status webhook settles it.
 */
export const inDoubtMs = ({ network }: Pick<Config, 'network'>): number =>
  Math.max(network.requestTimeoutMs + LEASE_MARGIN_MS, network.reconcileMs);
