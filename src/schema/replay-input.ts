import { FieldErrorList } from '../core/errors.ts';
import { notAnId, parseUuid } from '../core/global-ids.ts';

interface ReplaySelection {
  readonly ids?: readonly (string | number)[] | null | undefined;
  readonly since?: unknown;
}

/**
 * Reads the ids of a replay, which selects its deliveries either by `ids` or by a source and `since`.
 * @param source name of the field that holds the source
 * @returns undefined if source and `since` are given instead
 * @throws VALIDATION_ERROR with all faults
 */
export function replayedIds<Input extends ReplaySelection>(
  input: Input,
  { tenantId, typename, source, maximum }: ReplayedType<Input>,
): readonly string[] | undefined {
  const { ids } = input;
  const errors = new FieldErrorList();
  const message = `Give ids, or ${source} and since.`;
  for (const field of [source, 'since'] as const) {
    if (ids != null && input[field] != null) errors.add(field, message, 'SURPLUS');
    if (ids == null && input[field] == null) errors.add(field, message, 'REQUIRED');
  }
  if (ids?.length === 0) errors.add('ids', 'At least one is required.', 'REQUIRED');
  if (ids && ids.length > maximum) errors.add('ids', `May have at most ${maximum}.`, 'TOO_MANY');
  const read = ids?.map((text, index) => {
    const id = parseUuid(tenantId, typename, String(text));
    if (id === undefined) errors.add(`ids.${index}`, notAnId(typename), 'REFERENCE_NOT_FOUND');
    return id ?? '';
  });
  errors.throwIfAny();
  return read;
}

interface ReplayedType<Input> {
  readonly tenantId: number;
  /** Type of the objects in `ids`. */
  readonly typename: string;
  readonly source: keyof Input & string;
  /** Maximum number of ids. */
  readonly maximum: number;
}
