import { FieldErrorList } from '../../../core/errors.ts';
import { isLonger, isStorable } from '../../../platform/text.ts';
import type { Content } from '../send/content.ts';

export interface CardFields {
  readonly name: string;
  readonly phones: readonly string[];
  readonly emails?: readonly string[] | null | undefined;
  readonly company?: string | null | undefined;
}

/** Limits of this gateway; the network names none. */
export const CARD_LIMITS = { cards: 20, entries: 10, text: 255 } as const;

/** The content of contact cards. @throws VALIDATION_ERROR on the card's number and field: `0.name`, `1.phones` */
export function cardsContent(cards: readonly CardFields[]): Content {
  const errors = new FieldErrorList();
  const { cards: maximum, entries, text: length } = CARD_LIMITS;
  if (cards.length === 0 || cards.length > maximum)
    errors.add('', `Give 1 to ${maximum} cards.`, cards.length === 0 ? 'REQUIRED' : 'TOO_MANY');
  for (const [index, { name, phones, emails, company }] of cards.entries()) {
    if (name.trim() === '') errors.add(`${index}.name`, 'Is required.', 'REQUIRED');
    for (const [field, texts] of Object.entries({
      name: [name],
      phones,
      emails: emails ?? [],
      company: [company ?? ''],
    })) {
      if (texts.length > entries) errors.add(`${index}.${field}`, `May have at most ${entries}.`, 'TOO_MANY');
      if (texts.some(text => isLonger(text, length)))
        errors.add(`${index}.${field}`, `May have at most ${length} characters.`, 'TOO_LONG');
      if (texts.some(text => !isStorable(text)))
        errors.add(`${index}.${field}`, 'May not contain the character U+0000.');
    }
  }
  errors.throwIfAny();
  const value = cards.map(({ name, phones, emails, company }) => ({
    // The network requires another part of the name beside the formatted one.
    name: { formatted_name: name, first_name: name },
    ...(phones.length > 0 && { phones: phones.map(phone => ({ phone })) }),
    ...(emails && emails.length > 0 && { emails: emails.map(email => ({ email })) }),
    ...(company && { org: { company } }),
  }));
  return {
    type: 'contacts',
    freeForm: true,
    texts: {},
    // The network's content is a list, which messages keep under `value`.
    compose: () => ({ body: cards.map(({ name }) => name).join(', '), content: { value } }),
  };
}
