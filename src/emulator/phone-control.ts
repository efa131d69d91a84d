import { z } from 'zod';
import { numberFor, personKey, readInput, sendChange } from './control-input.ts';
import { portfolioOf } from './options.ts';
import type { PhoneChange } from './phones.ts';
import { json, type Reply, type Request } from './reply.ts';
import { planReturn, statusUpdate } from './statuses.ts';
import type { World } from './world.ts';

const phoneInput = z.strictObject({
  phone: z.string().min(1),
  isOffline: z.boolean().optional(),
  isBlocking: z.boolean().optional(),
  phoneNumberId: z.string().optional(),
});
const groupInput = z.strictObject({
  phone: z.string().min(1),
  groupId: z.string().regex(/^[\w-]{1,60}$/, 'must be 1 to 60 letters, digits, _ and -'),
  subject: z.string().min(1).max(128).optional(),
  phoneNumberId: z.string().optional(),
});

function change(world: World, phone: PhoneChange): void {
  world.record({ e: 'phone', p: phone });
  world.phones.apply(phone);
}

/** Takes a phone offline or online, blocks or unblocks the business. */
export function postPhone(world: World, request: Request): Reply {
  const { phone, isOffline, isBlocking, phoneNumberId } = readInput(phoneInput, request);
  const number = numberFor(world, phoneNumberId);
  const person = personKey(world, phone);
  const blocks = isBlocking === undefined ? undefined : { phoneNumberId: number.phoneNumberId, isBlocked: isBlocking };
  change(world, { person, isOffline, blocks });
  const arrived = isOffline === false ? deliverHeld(world, person) : 0;
  return json(200, { ...phoneState(world, number.phoneNumberId, person), arrived });
}

export const phoneState = (world: World, phoneNumberId: string, person: string) => ({
  isOffline: world.phones.isOffline(person),
  isBlocking: world.phones.isBlocking(person, phoneNumberId),
  groups: world.phones.groupsOf(person),
});

/** Delivers messages that were sent while the phone was offline: posts their remaining statuses. @returns the number of messages */
function deliverHeld(world: World, person: string): number {
  const numbers = world.phones.numbersOf(person);
  const held = world.sent
    .all()
    .filter(({ held, waId, userId }) => held === 'offline' && numbers.includes(waId ?? userId ?? ''));
  for (const message of held) {
    const { planned, delaysMs } = planReturn(world, world.clock.now());
    world.record({ e: 'arrived', wamid: message.wamid, plan: planned });
    world.sent.release(message.wamid);
    for (const [index, status] of planned.entries())
      world.outbox.add(statusUpdate(message, status), delaysMs[index] ?? 0);
  }
  return held.length;
}

/** The person joins a group chat; the first one creates it. */
export function postGroup(world: World, request: Request): Reply {
  const { phone, groupId, subject, phoneNumberId } = readInput(groupInput, request);
  const number = numberFor(world, phoneNumberId);
  const person = personKey(world, phone);
  const known = world.phones.group(groupId);
  const joins = { groupId, subject: known?.subject ?? subject ?? groupId };
  const timestamp = String(Math.floor(world.clock.now() / 1_000));
  change(world, { person, joins });
  if (!known)
    sendChange(world, number, {
      field: 'group_lifecycle_update',
      value: { groups: [{ timestamp, group_id: groupId, type: 'group_create', subject: joins.subject }] },
    });
  const userId = world.faults.current.userIds ? world.people.userIdOf(person, portfolioOf(number)) : undefined;
  sendChange(world, number, {
    field: 'group_participants_update',
    value: {
      groups: [
        {
          timestamp,
          group_id: groupId,
          type: 'group_participants_add',
          added_participants: [{ wa_id: person, ...(userId !== undefined && { user_id: userId }) }],
          initiated_by: 'participant',
        },
      ],
    },
  });
  return json(200, { ...joins });
}
