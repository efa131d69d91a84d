import type { z } from 'zod';
import { parseJson } from '../platform/json.ts';
import { personOf } from './inbound.ts';
import type { EmulatorNumber } from './options.ts';
import type { Request } from './reply.ts';
import type { Update } from './update.ts';
import type { World } from './world.ts';

/** An invalid request of the control API; the message names the field. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
}

/** Parses and validates the body of a control request. @throws ControlError */
export function readInput<T>(schema: z.ZodType<T>, request: Request): T {
  const value = parseJson(request.body.toString('utf8'));
  if (value === undefined) throw new ControlError('The body is not JSON.');
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(issue => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  throw new ControlError(problems.join('; '));
}

/** A number of the business, the first one by default. @throws ControlError */
export function numberFor(world: World, phoneNumberId: string | undefined): EmulatorNumber {
  const number = phoneNumberId === undefined ? world.numbers.values().next().value : world.numbers.get(phoneNumberId);
  if (!number) throw new ControlError(`phoneNumberId: there is no number ${phoneNumberId ?? ''}`.trim());
  return number;
}

/** A user id has letters, a number does not. */
export const personKey = (world: World, text: string): string => (/[A-Za-z]/.test(text) ? text : personOf(world, text));

/** Sends a change of any field. `number` adds its `metadata` if the value has none. */
export function sendChange(
  world: World,
  number: EmulatorNumber | undefined,
  {
    field,
    value,
    entryId,
  }: { readonly field: string; readonly value: Record<string, unknown>; readonly entryId?: string },
): void {
  const update: Update & { kind: 'change' } = {
    kind: 'change',
    seq: world.nextSeq(),
    wabaId: entryId ?? number?.wabaId ?? '',
    field,
    value:
      !number || 'metadata' in value
        ? value
        : {
            messaging_product: 'whatsapp',
            metadata: {
              display_phone_number: number.displayPhoneNumber.replace(/\D/g, ''),
              phone_number_id: number.phoneNumberId,
            },
            ...value,
          },
  };
  world.record({ e: 'change', u: update });
  world.outbox.add(update, 0);
}
