import { asObject, asText, type JsonObject } from '../../platform/json.ts';
import { badParameter, refusal } from './graph-error.ts';
import { json, type Reply, SUCCESS } from './reply.ts';
import type { World } from './world.ts';

/**
 * `{ status: "read", message_id, typing_indicator? }`: marks an inbound message and those before it from the same
 * person as read; the typing indicator is shown for 25 s or until a message is sent, which nobody sees here.
 */
export function markRead(world: World, body: JsonObject): Reply {
  const wamid = asText(body['message_id']);
  if (wamid === undefined) throw badParameter('The parameter message_id is required.');
  const indicator = body['typing_indicator'];
  if (indicator !== undefined && asObject(indicator)?.['type'] !== 'text')
    throw badParameter("Param typing_indicator['type'] must be one of {TEXT}.");
  // Recorded failure, with this wording.
  if (world.sent.has(wamid)) throw refusal(100, `Message ${wamid} is outgoing. Please use an incoming message ID.`);
  const message = world.received.get(wamid);
  if (!message) throw refusal(131009, `Message ${wamid} does not exist`);
  for (const earlier of world.received.values()) {
    if (earlier.from === message.from && earlier.at <= message.at) earlier.read = true;
  }
  return json(200, SUCCESS);
}
