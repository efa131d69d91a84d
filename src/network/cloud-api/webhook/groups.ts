import { asId, asList, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import type { NetworkPerson } from '../../network.ts';
import type { NetworkUpdate } from '../../updates.ts';
import { personOf } from '../identity.ts';
import { readErrors } from './health.ts';
import { unreadParts } from './messages.ts';
import { type Reading, timeOf } from './reading.ts';

const LISTS: ReadonlySet<string> = new Set(['contacts', 'errors', 'groups']);

/** Other spellings of the same event. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['group_add_participants', 'group_participants_add'],
  ['group_remove_participants', 'group_participants_remove'],
  ['group_participant_add', 'group_participants_add'],
  ['group_participant_remove', 'group_participants_remove'],
]);

/** Requests of the business that succeed or fail as a whole. The others say in their lists and settings which parts succeeded. */
const ALL_OR_NOTHING: ReadonlySet<string> = new Set(['group_create', 'group_delete']);

/** `group_lifecycle_update`, `group_participants_update`, `group_participant_update`, `group_settings_update`, `group_status_update`. */
export const isGroupField = (field: string): boolean => /^group_\w+_update$/.test(field);

/** The fields `group_*_update`: participants and names of group chats. */
export function readGroups(reading: Reading): NetworkUpdate[] {
  return [
    ...readErrors(reading),
    ...asList(reading.value['groups']).map(
      part => readGroup(asObject(part), reading) ?? reading.unreadable('groups', part),
    ),
    ...unreadParts(reading, LISTS),
  ];
}

function readGroup(group: JsonObject | undefined, reading: Reading): NetworkUpdate | undefined {
  const groupId = asId(group?.['group_id']) ?? asId(group?.['id']);
  const type = asText(group?.['type']);
  if (!group || groupId === undefined || type === undefined) return undefined;
  if (ALL_OR_NOTHING.has(type) && asList(group['errors']).length > 0) return undefined;
  return {
    kind: 'group',
    phoneNumberId: reading.phoneNumberId,
    groupId,
    event: SPELLINGS.get(type) ?? type,
    ...timeOf(group['timestamp'], reading),
    subject: settingOf(group, 'subject'),
    description: settingOf(group, 'description'),
    inviteLink: asText(group['invite_link']),
    joinApprovalMode: asText(group['join_approval_mode']),
    added: peopleIn(group['added_participants']),
    removed: peopleIn(group['removed_participants']),
  };
}

/** `subject` of a new group, `group_subject {text, update_successful}` of a change; failed changes are ignored. */
function settingOf(group: JsonObject, name: string): string | undefined {
  const changed = asObject(group[`group_${name}`]);
  if (changed) return changed['update_successful'] === false ? undefined : asText(changed['text']);
  return asText(group[name]);
}

const peopleIn = (list: unknown): NetworkPerson[] =>
  asList(list).flatMap(part => {
    const fields = asObject(part);
    const person = personOf(fields?.['wa_id'] ?? fields?.['input'], fields?.['user_id'], fields?.['parent_user_id']);
    return person.waId === undefined && person.userId === undefined ? [] : [person];
  });
