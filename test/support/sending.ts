import { expect } from 'vitest';
import { decodeGlobalId } from '../../src/core/global-ids.ts';
import { faultsOf } from './answers.ts';
import type { GraphQLAnswer, TestGateway } from './gateway.ts';

type Content = 'text' | 'media' | 'template' | 'interactive';

const DELIVERY: ReadonlySet<string> = new Set([
  'channelId',
  'contact',
  'expectedContactId',
  'requireOpenWindow',
  'waitForAcceptance',
  'idempotencyKey',
]);

/**
 * The input of `sendMessage` from a flat one: `to` is a phone number or the global id of a contact, `text` the body of a text, `link`
 * or `mediaId` the file of a media message. Other fields belong to the delivery, or else to the content.
 */
export function messageInput(content: Content, input: object) {
  const { to, ...fields } = input as { readonly to?: string; readonly [name: string]: unknown };
  const delivery = Object.entries(fields).filter(([name]) => DELIVERY.has(name));
  const { text, link, mediaId, ...others } = Object.fromEntries(
    Object.entries(fields).filter(([name]) => !DELIVERY.has(name)),
  );
  const written =
    content === 'text'
      ? { body: text, ...others }
      : content === 'media'
        ? { ...others, file: { ...(link !== undefined && { link }), ...(mediaId !== undefined && { mediaId }) } }
        : others;
  return { ...Object.fromEntries(delivery), to: recipientOf(to ?? ''), content: { [content]: written } };
}

/** A recipient from a phone number or the global id of a contact. */
export const recipientOf = (to: string) =>
  decodeGlobalId(to)?.typename === 'Contact' ? { contactId: to } : { phone: to };

/** Sends a flat input with `sendMessage`. */
export const sendAs = (
  gateway: Pick<TestGateway, 'mutate'>,
  content: Content,
  input: object,
  selection: string,
  token?: string,
): Promise<GraphQLAnswer> =>
  gateway.mutate('sendMessage', messageInput(content, input), `message { ${selection} }`, token);

/** The faults of a send whose content is refused, by their paths within the content. */
export function contentFaultsOf(answer: GraphQLAnswer): Record<string, string[]> {
  const faults = Object.entries(faultsOf(answer));
  for (const [path] of faults) expect(path).toMatch(/^content\.(text|media|template|interactive)\./);
  return Object.fromEntries(faults.map(([path, messages]) => [path.replace(/^content\.\w+\./, ''), messages]));
}
