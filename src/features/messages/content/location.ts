import { FieldErrorList } from '../../../core/errors.ts';
import { isLonger, isStorable } from '../../../platform/text.ts';
import type { Content } from '../send/content.ts';

export interface LocationFields {
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: string | null | undefined;
  readonly address?: string | null | undefined;
}

/** Longest name and address of a location, in characters. */
export const MAX_PLACE = 1_000;

/** The content of a location. @throws VALIDATION_ERROR on latitude, longitude, name, address */
export function locationContent({ latitude, longitude, name, address }: LocationFields): Content {
  const errors = new FieldErrorList();
  if (Math.abs(latitude) > 90) errors.add('latitude', 'Must be from -90 to 90.', 'OUT_OF_RANGE');
  if (Math.abs(longitude) > 180) errors.add('longitude', 'Must be from -180 to 180.', 'OUT_OF_RANGE');
  for (const [field, text] of Object.entries({ name, address })) {
    if (text && isLonger(text, MAX_PLACE)) errors.add(field, `May have at most ${MAX_PLACE} characters.`, 'TOO_LONG');
    else if (text && !isStorable(text)) errors.add(field, 'May not contain the character U+0000.');
  }
  errors.throwIfAny();
  return {
    type: 'location',
    freeForm: true,
    texts: {},
    compose: () => ({
      body: name || address || `${latitude}, ${longitude}`,
      content: { latitude, longitude, ...(name && { name }), ...(address && { address }) },
    }),
  };
}
