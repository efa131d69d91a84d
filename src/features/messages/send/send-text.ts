import type { Context } from '../../../schema/context.ts';
import type { MessageRow } from '../message.ts';
import type { Content } from './content.ts';
import type { SendInput } from './request.ts';
import { send } from './send.ts';

export interface SendTextInput extends SendInput {
  readonly text: string;
  readonly previewUrl?: boolean | null | undefined;
}

/** Longest text of a message in characters, after merging (cloud-api §4). */
export const MAX_TEXT = 4_096;

/** Sends a text message. @throws like `send` */
export const sendText = (context: Context, input: SendTextInput): Promise<MessageRow> =>
  send(context, 'sendMessage', input, textContent(input));

/** The content of a text message. */
export const textContent = ({ text: words, previewUrl }: Pick<SendTextInput, 'text' | 'previewUrl'>): Content => ({
  type: 'text',
  freeForm: true,
  texts: { text: { text: words, maxLength: MAX_TEXT } },
  compose: text => ({ body: text('text'), content: { preview_url: previewUrl ?? false } }),
});
