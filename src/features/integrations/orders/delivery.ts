import type { Reason } from './reason.ts';

/** Outcomes of processing a payload. */
export const OUTCOMES = ['waiting', 'acted', 'duplicate', 'ignored', 'refused', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The result of one mapping; `failed`: a transient fault that persists. */
export interface Result {
  readonly mapping_id: number;
  /** Name of the mapping at that time. */
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
  /** Time at which its bytes were erased because a person in it was deleted. */
  readonly erased_at: string | null;
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

/** The worst outcome of the mappings; `ignored` if no mapping applied. */
export function outcomeOf(results: readonly Result[]): Exclude<Outcome, 'waiting'> {
  for (const outcome of ['failed', 'refused', 'acted', 'duplicate'] as const)
    if (results.some(result => result.outcome === outcome)) return outcome;
  return 'ignored';
}

/** The queue of integrations with unprocessed payloads. */
export const INTEGRATIONS = 'integrations';

/** The lane of an integration: its payloads are processed in order, independently of other shops. */
export const laneOf = (tenantId: number, integrationId: number): string => `${tenantId}:${integrationId}`;

export function parseLane(key: string): { tenantId: number; integrationId: number } {
  const [tenantId = Number.NaN, integrationId = Number.NaN] = key.split(':').map(Number);
  return { tenantId, integrationId };
}
