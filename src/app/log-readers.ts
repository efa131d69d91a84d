import type { LogReader } from '../events/readers.ts';
import { createBotReader } from '../features/bots/housekeeping.ts';
import { campaignReader } from '../features/campaigns/recipients/reader.ts';
import { webhookReader } from '../features/webhooks/housekeeping.ts';

/** Permanent readers of the event log; each runs in one process at a time. */
export const createReaders = (): readonly LogReader[] => [createBotReader(), campaignReader, webhookReader];
