import { brandWithType } from '@pothos/core';
import { callerOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import type { MessageRow } from './message.ts';

/** A message as the `current` of a ConflictError; null for a caller that may not read messages. */
export function currentMessage(context: Context, message: MessageRow | undefined): MessageRow | null {
  if (!message || !callerOf(context).scopes.has('messages:read')) return null;
  brandWithType(message, 'Message' as never);
  return message;
}
