import type { Reason } from './reason.ts';

/** What became of a payload. */
export const OUTCOMES = ['waiting', 'acted', 'duplicate', 'ignored', 'refused', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What became of it for one mapping; `failed`: of a fault that has not passed (yet). */
export interface Result {
  readonly mapping_id: number;
  /** As the mapping was called then. */
  readonly mapping_name: string;
  readonly outcome: 'acted' | 'duplicate' | 'refused' | 'failed';
  readonly reason: Reason | null;
  readonly contact_id: number | null;
  readonly message_id: string | null;
}

export interface DeliveryRow {
  readonly id: string;
  readonly integration_id: number;
  readonly shop_delivery_id: string | null;
  readonly topic: string;
  readonly received_at: string;
  readonly outcome: Outcome;
  readonly order_id: string | null;
  readonly order_status: string | null;
  readonly results: readonly Result[];
  readonly reason: Reason | null;
  readonly attempts: number;
  readonly due_at: string | null;
  readonly processed_at: string | null;
  readonly replays: number;
  readonly is_forced: boolean;
  /** When its bytes were erased, because a person of whom they tell was deleted. */
  readonly erased_at: string | null;
  /** Read where it is asked for: there may be a megabyte of it. Null once erased. */
  readonly body?: Buffer | null;
}

export const DELIVERY_COLUMNS = [
  'id',
  'integration_id',
  'shop_delivery_id',
  'topic',
  'received_at',
  'outcome',
  'order_id',
  'order_status',
  'results',
  'reason',
  'attempts',
  'due_at',
  'processed_at',
  'replays',
  'is_forced',
  'erased_at',
] as const satisfies readonly (keyof DeliveryRow)[];

/** The worst of what its mappings came to is what a payload came to; none of them: nobody wanted it. */
export function outcomeOf(results: readonly Result[]): Exclude<Outcome, 'waiting'> {
  for (const outcome of ['failed', 'refused', 'acted', 'duplicate'] as const)
    if (results.some(result => result.outcome === outcome)) return outcome;
  return 'ignored';
}
