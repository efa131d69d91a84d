import type { Context } from '../../context.ts';
import type { MessageRow } from './message.ts';
import { type Content, type SendInput, send } from './send.ts';

export interface SendTextInput extends SendInput {
  readonly text: string;
  readonly previewUrl?: boolean | null | undefined;
}

/** Longest text of a message in characters, after merging (cloud-api §4). */
export const MAX_TEXT = 4_096;

/** Sends a text. Errors as `send`. */
export const sendText = (context: Context, input: SendTextInput): Promise<MessageRow> =>
  send(context, 'sendTextMessage', input, textContent(input));

/** A text as it is sent. */
export const textContent = ({ text: words, previewUrl }: Pick<SendTextInput, 'text' | 'previewUrl'>): Content => ({
  type: 'text',
  freeForm: true,
  texts: { text: { text: words, maxLength: MAX_TEXT } },
  compose: text => ({ body: text('text'), content: { preview_url: previewUrl ?? false } }),
});
