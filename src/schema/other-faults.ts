import type { GraphQLInputObjectType } from 'graphql';
import { CodedError, type Fault, FieldErrorList, fieldsOverlap, STAND_IN } from '../core/errors.ts';
import type { Context } from './context.ts';
import { keyFaults } from './idempotency-key.ts';
import { repairedInput } from './repaired-input.ts';

/** Forms, ids, references, unique values: what one step finds keeps the next from running. */
const MAX_STEPS = 6;

/**
 * Adds to the error of an input the faults that the checks after it would have found, so that all are reported at once. The
 * work is rehearsed without the faulty fields, in a context that changes nothing; only on the path of an error, so that valid input
 * costs no more statements. A fault that the repair itself may have caused is left out.
 * @param error what the work threw; returned as it is unless it is about fields
 * @param rehearse does the work for another input
 */
export async function withOtherFaults(
  error: unknown,
  input: object,
  type: GraphQLInputObjectType,
  context: Context,
  rehearse: (input: object, context: Context) => Promise<unknown>,
): Promise<unknown> {
  if (!(error instanceof CodedError) || error.faults.length === 0) return error;
  const errors = new FieldErrorList();
  errors.include(error.faults);
  const { idempotencyKey: key, ...work } = input as { readonly idempotencyKey?: string | null };
  errors.include(keyFaults(key));
  let current: object = work;
  let faults: readonly Fault[] = error.faults.filter(({ field }) => field !== 'idempotencyKey');
  const repaired: string[] = [];
  for (let step = 0; step < MAX_STEPS; step++) {
    const fields = faults.map(({ field }) => field);
    const next = repairedInput(type, current, fields);
    if (!next) break;
    current = next;
    repaired.push(...fields.map(field => removedBy(next, field)));
    const found = await faultsOf(() => rehearse(next, context.rehearsal()), context);
    faults = found.filter(({ field }) => !repaired.some(known => fieldsOverlap(field, known)));
    if (faults.length === 0) break;
    errors.include(faults.filter(fault => isOfInput(fault, input, repaired)));
  }
  return errors.faults.length === error.faults.length ? error : errors.toError(error.message);
}

/** The faults that a rehearsal ends with: none if it gets as far as a change, or is refused for another reason. */
async function faultsOf(work: () => Promise<unknown>, { log }: Context): Promise<readonly Fault[]> {
  try {
    await work();
  } catch (error) {
    if (error instanceof CodedError) return error.faults;
    log.warn({ err: error }, 'an input could not be checked for further faults');
  }
  return [];
}

/** Whether a fault is one of the input as it was given, and not of what a repair has removed or put in. */
const isOfInput = ({ field, message }: Fault, input: object, repaired: readonly string[]): boolean =>
  !message.includes(STAND_IN) &&
  !(IN_CHANNEL.test(field) && repaired.some(known => known.endsWith('channelId'))) &&
  (valueAt(input, field) !== undefined || !repaired.some(known => rootOf(known) === rootOf(field))) &&
  valueAt(input, rootOf(field)) !== undefined;

/** Fields whose values exist in one channel: without the channel of the input they were looked up in another. */
const IN_CHANNEL = /template|language|media/i;

/** What the repair of a field has removed: the field, or the whole list that has it. */
function removedBy(input: object, field: string): string {
  const names = field.split('.');
  const end = names.findIndex((_name, index) => valueAt(input, names.slice(0, index + 1).join('.')) === undefined);
  return end === -1 ? field : names.slice(0, end + 1).join('.');
}

const rootOf = (field: string): string => field.split('.', 1)[0] ?? '';

const valueAt = (input: object, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[name], input);
