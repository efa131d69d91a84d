import type { Db } from '../../database/database.ts';
import type { NetworkPerson } from '../../network/network.ts';
import type { NetworkUpdate } from '../../network/updates.ts';
import type { MergeRequest } from '../contacts/merging/merge.ts';
import { applyPeopleUpdates, type ChannelUpdate } from '../contacts/recognition/apply-updates.ts';
import type { Sender } from '../contacts/resolve-contacts.ts';
import type { RoutedUpdate } from './route-updates.ts';

/** Looks up the contact of a person named in an update: with a shared number, each update may mean another person. */
export type ContactOf = (update: NetworkUpdate, person: NetworkPerson) => number | undefined;

/**
 * Applies identity updates, and finds the contacts of all people named apart from message senders. Runs once for all updates,
 * so that contacts are locked in one order (no deadlocks).
 */
export async function applyPeople(
  trx: Db,
  tenantId: number,
  routed: readonly RoutedUpdate[],
  nowMs: number,
  onCountedTwice: MergeRequest['onCountedTwice'],
): Promise<ContactOf> {
  const persons = routed.flatMap(({ update, channels }) => {
    const [channel] = channels;
    return channel ? peopleIn(update).map(person => ({ channelId: channel.id, update, person })) : [];
  });
  const senders = persons.map(
    ({ channelId, update, person }): Sender => ({
      channelId,
      at: 'at' in update ? update.at : new Date(nowMs),
      ...person,
      ...(hasProfileOfPerson(update) && { profileName: update.profileName }),
      ...(update.kind === 'past_message' && { isUserIdOfThread: update.isUserIdOfThread }),
    }),
  );
  const updates = routed.flatMap(identityUpdatesOf);
  const ids = await applyPeopleUpdates(trx, tenantId, updates, senders, nowMs, onCountedTwice);
  const contactIds = new Map<NetworkUpdate, Map<NetworkPerson, number | undefined>>();
  for (const [index, { update, person }] of persons.entries()) {
    const ofUpdate = contactIds.get(update) ?? new Map();
    contactIds.set(update, ofUpdate.set(person, ids[index]));
  }
  return (update, person) => contactIds.get(update)?.get(person);
}

/** Whether the update's profile name belongs to the person it names. */
const hasProfileOfPerson = (
  update: NetworkUpdate,
): update is NetworkUpdate & { readonly profileName: string | undefined } =>
  update.kind === 'call' || (update.kind === 'past_message' && update.direction === 'inbound');

/** The people named in an update, without message senders and those whose identity changes. */
function peopleIn(update: NetworkUpdate): NetworkPerson[] {
  switch (update.kind) {
    case 'echo':
      return update.groupId === undefined ? [update.to] : [];
    case 'edit':
    case 'revoke':
      return update.person.waId === undefined && update.person.userId === undefined ? [] : [update.person];
    case 'past_message':
    case 'call':
    case 'handover':
      return [update.person];
    case 'group':
      return [...update.added, ...update.removed];
    default:
      return [];
  }
}

function identityUpdatesOf({ update, channels }: RoutedUpdate): ChannelUpdate[] {
  const [channel] = channels;
  if (!channel) return [];
  switch (update.kind) {
    case 'message':
    case 'identity_change':
    case 'preference':
      return [{ channelId: channel.id, update }];
    default:
      return [];
  }
}
