import { FieldErrorList, invalid } from '../../../core/errors.ts';
import type { OutgoingType } from '../../../network/network.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { isLonger } from '../../../platform/text.ts';
import { goneFault } from '../content/media/file.ts';
import type { Addressee } from './accept.sql.ts';
import { emptyFields, MERGE_FIELDS, mergeFields, unknownFields, unmerged } from './merge-fields.ts';
import type { ConsentedCategory } from './recipient.sql.ts';

/** A text field of a message. Merge fields are filled first; limits apply to the result. */
export interface MergeText {
  readonly text: string;
  /** In characters, after merging. */
  readonly maxLength: number;
  /** Default: a text that is empty before or after merging is rejected. */
  readonly mayBeEmpty?: boolean;
}

/** The content of a message. */
export interface Content {
  /** The network's message type. */
  readonly type: OutgoingType;
  /** Free-form content needs an open service window, templates do not. */
  readonly freeForm: boolean;
  /** A one-time code, which is also sent to contacts who opted out unless configured otherwise. */
  readonly isCode?: boolean;
  /** The template that is sent. */
  readonly templateId?: number;
  /** Its purpose; contacts can opt out of each separately. */
  readonly category?: ConsentedCategory | undefined;
  /** The channel of its upload or template; used if the caller names none. */
  readonly channelId?: number | undefined;
  /** Its upload, which the network deletes at an instant. @see checkUpload */
  readonly upload?: { readonly field: string; readonly expiresAt: string } | undefined;
  /** The texts by input field. */
  readonly texts: Readonly<Record<string, MergeText>>;
  /** Values of further merge fields by name, beside those of the contact. */
  readonly mergeValues?: Readonly<Record<string, string>>;
  /** Builds the message. @param text returns the merged text of a field, '' if it was not given */
  compose(text: (field: string) => string): Composed;
}

/** Content that cannot be sent; reported only if nothing else is wrong and the request is not a repetition. */
export const refusing = (type: OutgoingType, error: unknown): Content => ({
  type,
  freeForm: false,
  texts: {},
  compose() {
    throw error;
  },
});

export interface Composed {
  /** The visible, searchable text: text, caption, or filled template. */
  readonly body: string | null;
  /** The network's object for the type, for a text without its body (cloud-api §4). */
  readonly content: JsonObject;
  /** The object to send if `content` hides a secret; stored encrypted until it is sent. */
  readonly secret?: JsonObject;
}

/** Rejects texts that exceed the limit for every recipient: they would be stored but never sent. @throws VALIDATION_ERROR by field */
export function checkLengths(texts: Content['texts']): void {
  const errors = new FieldErrorList();
  for (const [field, { text, maxLength }] of Object.entries(texts))
    if (isAlwaysLonger(text, maxLength)) errors.add(field, `May have at most ${maxLength} characters.`, 'TOO_LONG');
  errors.throwIfAny();
}

/** Whether a text exceeds the limit without the values of its merge fields. */
const isAlwaysLonger = (text: string, maxLength: number): boolean =>
  text.length > maxLength && isLonger(unmerged(text), maxLength);

type Person = Parameters<typeof mergeFields>[1];

/** Rejects an upload that the network will have deleted when the message is sent. @throws VALIDATION_ERROR on its field */
export function checkUpload({ upload }: Content, scheduledAt: string): void {
  const fault = upload && goneFault(upload.expiresAt, scheduledAt);
  if (fault !== undefined) throw invalid({ [upload?.field ?? '']: [fault] });
}

/** Validates texts before the recipient is known. @throws VALIDATION_ERROR by field */
export function checkTexts(texts: Content['texts'], mergeValues: Content['mergeValues'] = {}): void {
  const errors = new FieldErrorList();
  for (const [field, { text, maxLength, mayBeEmpty = false }] of Object.entries(texts)) {
    const unknown = unknownFields(text, mergeValues);
    if (text.trim() === '' && !mayBeEmpty) errors.add(field, 'Is required.', 'REQUIRED');
    // Rejected without parsing: merge fields are short, so merging would not shorten such a text to the limit.
    else if (text.length > 4 * maxLength) errors.add(field, `May have at most ${maxLength} characters.`, 'TOO_LONG');
    else if (text.includes('\0')) errors.add(field, 'May not contain the character U+0000.');
    else if (unknown.length > 0)
      errors.add(
        field,
        `Unknown merge field: ${unknown.join(', ')}. Known merge fields: ${MERGE_FIELDS.join(', ')}.`,
        'UNKNOWN_MERGE_FIELD',
      );
    else if (isAlwaysLonger(text, maxLength))
      errors.add(field, `May have at most ${maxLength} characters.`, 'TOO_LONG');
  }
  errors.throwIfAny();
}

/**
 * Fills the merge fields and builds the message.
 * @param removesEmptyFields whether a merge field without a value and without a fallback is removed; if not, it is an error
 * @throws VALIDATION_ERROR by field
 */
export function compose(
  content: Content,
  person: Parameters<typeof mergeFields>[1],
  removesEmptyFields: boolean,
): Composed {
  const errors = new FieldErrorList();
  const merged = new Map<string, string>();
  for (const [field, { text, maxLength, mayBeEmpty = false }] of Object.entries(content.texts)) {
    const filled = mergeFields(text, person, content.mergeValues);
    merged.set(field, filled);
    const empty = removesEmptyFields ? [] : emptyFields(text, person, content.mergeValues);
    if (empty.length > 0)
      errors.add(
        field,
        `The contact has no ${empty.join(', ')}. Write a fallback: @{${empty[0]}|fallback}.`,
        'UNKNOWN_MERGE_FIELD',
      );
    else if (isLonger(filled, maxLength))
      errors.add(field, `May have at most ${maxLength} characters after merging.`, 'TOO_LONG');
    else if (filled.trim() === '' && !mayBeEmpty) errors.add(field, 'Is empty after merging.', 'REQUIRED');
  }
  errors.throwIfAny();
  return content.compose(field => merged.get(field) ?? '');
}

/** The merge fields of a contact that the send creates. */
export const recipientFields = (addressee: Addressee): Person =>
  personOf('fields' in addressee ? addressee.fields : {});

/** The merge fields of a new contact with these values. */
export function personOf(fields: Partial<Person>): Person {
  const { email = null, phone = null, company = null, city = null, state = null, country_id = null } = fields;
  return {
    firstname: fields.firstname ?? '',
    lastname: fields.lastname ?? '',
    email,
    phone,
    company,
    city,
    state,
    country_id,
  };
}
