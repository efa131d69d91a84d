import { invalid, notFound } from '../../../core/errors.ts';
import { optionalInputId } from '../../../core/global-ids.ts';
import { callerOf, type StaffSession } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { resolveConversation } from '../state.sql.ts';
import { forgetPresence, type PresentSession, type SeenSession, storePresence } from './presence.sql.ts';
import { type Presence, presenceTopic } from './presence.ts';

export interface PresenceInput {
  readonly presence: Presence;
  /** Global or bare; null: none. */
  readonly conversationId: string | null | undefined;
  /** Undefined: as before. */
  readonly isTyping: boolean | undefined;
}

const sessionOf = (session: StaffSession): PresentSession => ({ staffId: session.staffId, sessionId: session.id });

/**
 * Stores the presence of the caller's session for 30 seconds.
 * @returns the staff member's id
 * @throws NOT_FOUND if the caller is no session; VALIDATION_ERROR for a conversation that does not exist
 */
export async function setPresence(context: Context, { presence, conversationId, isTyping }: PresenceInput) {
  const { tenant, session } = callerOf(context);
  if (!session) throw notFound('StaffSession');
  // A page in the background has no reader.
  const open = presence === 'online' ? await openedOf(context, tenant.id, conversationId) : null;
  const before =
    presence === 'offline'
      ? await forgetPresence(context.db.write, tenant.id, sessionOf(session))
      : await storePresence(context.db.write, tenant.id, sessionOf(session), {
          isAway: presence === 'away',
          conversationId: open,
          isTyping: open === null ? false : isTyping,
        });
  signalChange(context, tenant.id, before, open, isTyping);
  return session.staffId;
}

async function openedOf(
  context: Context,
  tenantId: number,
  id: PresenceInput['conversationId'],
): Promise<number | null> {
  const key = optionalInputId(tenantId, 'Conversation', id, 'conversationId') ?? null;
  if (key === null) return null;
  const conversation = await resolveConversation(context.db.read, tenantId, key);
  if (!conversation)
    throw invalid({ conversationId: ['There is no conversation with this id.'] }, 'REFERENCE_NOT_FOUND');
  return conversation.id;
}

/** Signals to followers of a conversation that its viewers have changed; does nothing if the same presence is reported again. */
function signalChange(
  { signals }: Pick<Context, 'signals'>,
  tenantId: number,
  before: SeenSession | undefined,
  now: number | null,
  isTyping: boolean | undefined,
): void {
  const was = before?.conversation_id ?? null;
  if (was === now && (isTyping === undefined || isTyping === (before?.is_typing ?? false))) return;
  for (const id of new Set([was, now])) if (id !== null) signals.send(presenceTopic(tenantId, id));
}

/** Forgets that the session of a caller has a conversation open, because its socket ended. Never throws. */
export async function leaveConversation(context: Context, conversationId: number): Promise<void> {
  const { tenant, session } = callerOf(context);
  if (!session) return;
  try {
    const before = await forgetPresence(context.db.write, tenant.id, sessionOf(session), conversationId);
    if (before) context.signals.send(presenceTopic(tenant.id, conversationId));
  } catch (error) {
    // It expires by itself.
    context.log.warn({ err: error, tenantId: tenant.id }, 'a presence that ended could not be removed');
  }
}
