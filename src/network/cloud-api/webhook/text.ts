import { asList, asObject, asText, type JsonObject } from '../../../platform/json.ts';

/**
 * The readable text of an inbound message, shown in conversation lists and matched by bots. `content` is `message[message.type]`.
 * Undefined for media without a caption, removed reactions and unknown types.
 */
export function readableText(type: string, content: unknown): string | undefined {
  if (type === 'contacts') return joined(asList(content).map(contactName));
  const fields = asObject(content);
  if (!fields) return undefined;
  switch (type) {
    case 'text':
    case 'system':
      return asText(fields['body']);
    case 'image':
    case 'video':
    case 'document':
      return asText(fields['caption']);
    case 'button':
    case 'order':
      return asText(fields['text']);
    case 'interactive':
      return interactiveText(fields);
    case 'reaction':
      return asText(fields['emoji']);
    case 'location':
      return asText(fields['name']) ?? asText(fields['address']) ?? coordinates(fields);
    default:
      return undefined;
  }
}

function interactiveText(interactive: JsonObject): string | undefined {
  const reply = asObject(interactive['button_reply']) ?? asObject(interactive['list_reply']);
  return asText(reply?.['title']) ?? asText(asObject(interactive['nfm_reply'])?.['body']);
}

function contactName(contact: unknown): string | undefined {
  const name = asObject(asObject(contact)?.['name']);
  return asText(name?.['formatted_name']) ?? joined([asText(name?.['first_name']), asText(name?.['last_name'])], ' ');
}

function coordinates(location: JsonObject): string | undefined {
  const { latitude, longitude } = location;
  return typeof latitude === 'number' && typeof longitude === 'number' ? `${latitude}, ${longitude}` : undefined;
}

function joined(parts: readonly (string | undefined)[], separator = ', '): string | undefined {
  return parts.filter(part => part !== undefined).join(separator) || undefined;
}
