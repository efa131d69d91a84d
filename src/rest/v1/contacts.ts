import { notFound } from '../../errors.ts';
import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import {
  type ContactRowFragment,
  CreateContactDocument,
  DeleteContactDocument,
  GetContactDocument,
  ListContactsDocument,
  ReplaceContactDocument,
} from '../documents.generated.ts';
import { type Comparison, readList } from '../list-query.ts';
import { bit, type Changes, choice, given, id, required, selected, text } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { CONTACT, contactDetails, contactRowBy } from '../v2/contact-row.ts';
import { CONTACTS } from '../v2/contacts.ts';
import { legacyTime } from '../wire-time.ts';
import { wireFlag } from './wire-flag.ts';

/** What a contact may be here. Version 2 knows guests besides, who are shown as leads: that is what a contact is by default. */
const TYPES = { lead: 'LEAD', customer: 'CUSTOMER' } as const;
const WORDS = Object.keys(TYPES);

const ALWAYS = ['groups'];
const SHOWN = { with_groups: true } as const;

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
    is_enabled: wireFlag(!isOptedOut),
    is_opted_out: wireFlag(isOptedOut),
    service_window: window && { ...window, open: wireFlag(window.open) },
  };
}

const ROW: Changes = {
  with: {
    ...CONTACT.with,
    tenant_id: id('The tenant.'),
    type: choice(WORDS, 'What it is to the business.'),
    is_enabled: bit('Whether it may be messaged: the opposite of `is_opted_out`.'),
  },
};

const BODY: Changes = {
  without: ['group_names', 'is_opted_out'],
  with: {
    type: choice(WORDS, 'What it is to the business.'),
    groups: text('Names of groups with commas between, or an array of them. Those that are missing are made.', {
      example: 'VIP, Newsletter',
    }),
    is_opted_out: bit('Whether the person asked not to be messaged.'),
    is_enabled: bit('The opposite, for those who say it so.'),
  },
};

/** How errors name what is called otherwise here. */
const NAMES = { groupNames: 'groups' };

/** What a body says about a contact beside its phone number. */
function readContact(call: Call, body: Body) {
  return {
    ...contactDetails(body, 'country_id', TYPES),
    ...said({
      groupNames: body.words('groups') ?? undefined,
      isOptedOut: readOptedOut(body),
      idempotencyKey: call.idempotencyKey,
    }),
  };
}

function readOptedOut(body: Body): boolean | undefined {
  const [optedOut, enabled] = [body.flag('is_opted_out'), body.flag('is_enabled')];
  if (optedOut != null && optedOut === enabled)
    body.errors.add('is_enabled', 'Is the opposite of is_opted_out: change both, or give one of them.');
  return optedOut ?? (enabled == null ? undefined : !enabled);
}

const LIST: typeof CONTACTS = { ...CONTACTS, filters: { ...CONTACTS.filters, type: ['type', 'choice'] } };

/** The parameters of the list. A filter by type has to find guests where leads are wanted, as they are shown as leads. */
function readContacts(call: Call) {
  const list = readList(call.query, LIST, call.errors);
  const { type } = list.filter ?? {};
  return type ? { ...list, filter: { ...list.filter, type: { in: typesFor(type, call) } } } : list;
}

function typesFor({ eq, ne, in: among, notIn }: Comparison, call: Call): string[] {
  for (const word of [eq ?? [], ne ?? [], among ?? [], notIn ?? []].flat())
    if (!WORDS.includes(word)) call.errors.add('filter.type', `Must be one of: ${WORDS.join(', ')}.`);
  const wanted = WORDS.filter(
    word => word === (eq ?? word) && word !== ne && (among ?? WORDS).includes(word) && !notIn?.includes(word),
  );
  return wanted.includes('lead') ? [...wanted, 'guest'] : wanted;
}

export const contactRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/contacts',
    document: ListContactsDocument,
    list: LIST,
    always: ALWAYS,
    answer: selected('contacts.nodes', ROW),
    plan: call => {
      const list = readContacts(call);
      return {
        variables: { ...list, ...SHOWN },
        respond: ({ contacts }) => ({
          message: 'Contacts',
          data: contacts.nodes.map(contact => contactRow(contact, call)),
          page: { ...list, total: contacts.totalCount },
        }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/:id',
    document: GetContactDocument,
    always: ALWAYS,
    answer: selected('contact', ROW),
    plan: call => ({
      variables: { id: call.id('Contact'), ...SHOWN },
      respond: ({ contact }) => {
        if (!contact) throw notFound('Contact');
        return { message: 'Contact', data: contactRow(contact, call) };
      },
    }),
  }),
  route({
    method: 'POST',
    path: '/contacts',
    document: CreateContactDocument,
    status: 201,
    always: ALWAYS,
    body: given('input', BODY),
    example: { firstname: 'Ana', lastname: 'Silva', phone: '+14155550123', type: 'lead', groups: 'VIP, Newsletter' },
    answer: selected('contact', ROW),
    errors: ['FEATURE_LIMIT_EXCEEDED'],
    plan: call => {
      const body = call.body();
      const input = { phone: body.requiredText('phone', 'phone_number'), ...readContact(call, body) };
      return {
        variables: { input, ...SHOWN },
        names: NAMES,
        respond: ({ contact }) => ({ message: 'Contact created', data: contactRow(contact, call) }),
      };
    },
  }),
  route({
    method: 'PUT',
    path: '/contacts/:id',
    document: ReplaceContactDocument,
    always: ALWAYS,
    notes:
      "What is left out becomes empty, the source and the status the tenant's defaults. Whether the person asked not to be messaged stays, unless it is said.",
    body: given('input', {
      ...BODY,
      with: { ...BODY.with, type: required(choice(WORDS, 'What it is to the business.')) },
    }),
    example: { firstname: 'Ana', phone: '+14155550123', type: 'customer', groups: 'VIP' },
    answer: selected('contact', ROW),
    plan: call => {
      const body = call.body();
      const phone = body.requiredText('phone', 'phone_number');
      const { firstName, type, ...others } = readContact(call, body);
      if (!firstName) body.missing('firstname');
      if (!type) body.missing('type');
      const input = { ...others, phone, firstName: firstName ?? '', type: type ?? ('LEAD' as const) };
      return {
        variables: { id: call.id('Contact'), input, ...SHOWN },
        names: NAMES,
        respond: ({ contact }) => ({ message: 'Contact updated', data: contactRow(contact, call) }),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/contacts/:id',
    document: DeleteContactDocument,
    plan: call => ({
      variables: { id: call.id('Contact') },
      respond: ({ contact }) => ({ message: 'Contact deleted', data: contact }),
    }),
  }),
];
