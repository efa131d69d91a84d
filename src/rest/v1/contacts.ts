import { z } from 'zod';
import { bitSchema, rowId, type SchemaOverrides, selectionOf } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { alias, bit, body, choice, dropUndefined, names, requiredChoice, requiredText } from '../runtime/fields.ts';
import type { ListArguments, ListFields } from '../runtime/query.ts';
import { listResponse, type Route, requireRow, route } from '../runtime/route.ts';
import {
  CONTACT_DETAILS,
  CONTACT_LIST,
  CONTACT_OVERRIDES,
  COUNTRY_ID,
  contactInput,
  contactReadAt,
  contactRowBy,
  DELETED_CONTACT,
  deletedKey,
} from '../wire/contact.ts';
import {
  type ContactFilter,
  type ContactOrderField,
  type ContactRowFragment,
  type ContactType,
  type ContactTypeFilter,
  CreateContactDocument,
  DeleteContactDocument,
  GetContactDocument,
  ListContactsDocument,
  ReplaceContactDocument,
} from '../wire/documents.generated.ts';
import { bitOf, legacyTime } from '../wire/values.ts';

/** Version 2 has guests as well. They are shown as leads, the default type. */
const TYPES = { lead: 'LEAD', customer: 'CUSTOMER' } as const;

const LIST: ListFields<ContactFilter, ContactOrderField> = {
  ...CONTACT_LIST,
  filters: { ...CONTACT_LIST.filters, type: ['type', TYPES] },
};

const ALWAYS = ['groups'];

const rowOf = contactRowBy(legacyTime);

/** A contact on the wire: as in version 2, with its tenant. */
function contactRow(contact: ContactRowFragment, call: Call) {
  const { id, ...row } = rowOf(contact);
  const { is_opted_out: isOptedOut = false, service_window: window } = row;
  return {
    id,
    tenant_id: call.tenantId,
    ...row,
    type: row.type === 'customer' ? 'customer' : 'lead',
    is_enabled: bitOf(!isOptedOut),
    is_opted_out: bitOf(isOptedOut),
    service_window: window && { ...window, open: bitOf(window.open) },
  };
}

const SCHEMA_OVERRIDES: SchemaOverrides = {
  with: {
    ...CONTACT_OVERRIDES.with,
    tenant_id: rowId('Id of the tenant.'),
    type: z.enum(Object.keys(TYPES)).describe('The type of contact.'),
    is_enabled: bitSchema('Whether the contact may be messaged: the opposite of `is_opted_out`.'),
  },
};

const DETAILS = {
  ...CONTACT_DETAILS,
  type: choice(TYPES),
  ...COUNTRY_ID,
  groups: names({
    type: ['string', 'array'],
    description: 'Names of groups, separated by commas or as an array. Missing groups are created.',
    examples: ['VIP, Newsletter'],
  }),
  is_opted_out: bit({ description: 'Whether the contact has opted out of messages.' }),
  is_enabled: bit({ description: 'Opposite of `is_opted_out`; only one of them can be given.' }),
};

type Details = z.output<z.ZodObject<typeof DETAILS>>;
type Flags = Pick<Details, 'is_opted_out' | 'is_enabled'>;

function checkFlags(
  { is_opted_out: optedOut, is_enabled: enabled }: Flags,
  add: (field: string, message: string) => void,
) {
  if (optedOut != null && optedOut === enabled)
    add('is_enabled', 'Is the opposite of is_opted_out: change both, or give one of them.');
}

const detailsInput = (call: Call, { groups, is_opted_out, is_enabled, country_id, ...details }: Details) =>
  dropUndefined({
    ...contactInput(details, country_id),
    groupNames: groups ?? undefined,
    isOptedOut: is_opted_out ?? (is_enabled == null ? undefined : !is_enabled),
    idempotencyKey: call.idempotencyKey,
  });

/** Names of fields in errors. */
const NAMES = { groupNames: 'groups' };

/** Guests are shown as leads, so a filter for leads includes them. */
function withGuests(list: ListArguments<ContactFilter, ContactOrderField>) {
  const { type } = list.filter ?? {};
  return type ? { ...list, filter: { ...list.filter, type: { in: typesFor(type) } } } : list;
}

function typesFor({ eq, ne, in: among, notIn, isNull }: ContactTypeFilter): ContactType[] {
  const wanted = Object.values(TYPES).filter(
    type =>
      type === (eq ?? type) && type !== ne && (among ?? [type]).includes(type) && !notIn?.includes(type) && !isNull,
  );
  return wanted.includes('LEAD') ? [...wanted, 'GUEST'] : wanted;
}

export const contactRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/contacts',
    document: ListContactsDocument,
    list: LIST,
    always: ALWAYS,
    answer: selectionOf('contacts.nodes', SCHEMA_OVERRIDES),
    variables: ({ list }) => withGuests(list),
    respond: ({ contacts }, { call, list }) =>
      listResponse('Contacts', contacts, list, contact => contactRow(contact, call)),
  }),
  route({
    method: 'GET',
    path: '/contacts/:id',
    resource: 'Contact',
    document: GetContactDocument,
    always: ALWAYS,
    answer: selectionOf('contact', SCHEMA_OVERRIDES),
    variables: ({ id }) => ({ id }),
    respond: ({ contact }, { call }) => ({
      message: 'Contact',
      data: contactRow(requireRow(contact, 'Contact'), call),
    }),
  }),
  route({
    method: 'POST',
    path: '/contacts',
    document: CreateContactDocument,
    status: 201,
    always: ALWAYS,
    body: body({ phone: alias(requiredText(), 'phone_number'), ...DETAILS }, checkFlags),
    example: { firstname: 'Ana', lastname: 'Silva', phone: '+14155550123', type: 'lead', groups: 'VIP, Newsletter' },
    answer: selectionOf('result.row', SCHEMA_OVERRIDES),
    errors: ['FEATURE_LIMIT_EXCEEDED'],
    names: NAMES,
    variables: ({ call, body: { phone, ...details } }) => ({ input: { ...detailsInput(call, details), phone } }),
    respond: ({ result: { row } }, { call }) => ({
      message: 'Contact created',
      data: contactRow(requireRow(row, 'Contact'), call),
    }),
  }),
  route({
    method: 'PUT',
    path: '/contacts/:id',
    resource: 'Contact',
    document: ReplaceContactDocument,
    readAt: contactReadAt,
    always: ALWAYS,
    notes:
      "Missing fields become empty; source and status become the tenant's defaults. The opt-out stays unless it is given.",
    body: body(
      {
        phone: alias(requiredText(), 'phone_number'),
        ...DETAILS,
        firstname: alias(requiredText({ maxLength: 255 }), 'first_name'),
        type: requiredChoice(TYPES),
      },
      checkFlags,
    ),
    example: { firstname: 'Ana', phone: '+14155550123', type: 'customer', groups: 'VIP' },
    answer: selectionOf('result.row', SCHEMA_OVERRIDES),
    names: NAMES,
    variables: ({ call, id, body: { phone, ...details } }) => ({
      input: { ...detailsInput(call, details), id, phone, firstName: details.firstname, type: details.type },
    }),
    respond: ({ result: { row } }, { call }) => ({
      message: 'Contact updated',
      data: contactRow(requireRow(row, 'Contact'), call),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/contacts/:id',
    resource: 'Contact',
    document: DeleteContactDocument,
    readAt: contactReadAt,
    answer: DELETED_CONTACT,
    variables: ({ id }) => ({ input: { id } }),
    respond: ({ result: { deletedId } }) => ({ message: 'Contact deleted', data: { id: deletedKey(deletedId) } }),
  }),
];
