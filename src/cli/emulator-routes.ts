import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { AddRoutes } from '../app/server.ts';
import type { Db } from '../database/database.ts';
import { append } from '../events/append.ts';
import { PUBLIC_CONVERSATION } from '../features/conversations/columns.ts';
import type { PublicConversation } from '../features/conversations/conversation.ts';
import { keepRawBodies } from '../http/request-body.ts';
import { parseJson } from '../platform/json.ts';

/** Enough for a picture of 16 MB in base64. */
const BODY_LIMIT = 24 * 1024 * 1024;

/**
 * Forwards `/_emulator/…` of the gateway to the emulator's control API, for the phones of the dashboard, which may call only its own
 * origin. Only in `parley dev`. Requires a token of the account, because the control API has no authentication.
 */
export const emulatorRoutes =
  (emulatorUrl: string): AddRoutes =>
  async (app, { db, signals }, authenticate) => {
    await app.register(async routes => {
      keepRawBodies(routes, BODY_LIMIT);
      const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
        const { principal } = await authenticate(request, reply);
        const { method, url, body } = request;
        const answer = await fetch(emulatorUrl + url, {
          method,
          ...(Buffer.isBuffer(body) && { body: new Uint8Array(body) }),
        });
        if (answer.ok && method === 'POST' && url === '/_emulator/time') {
          const { passedHours } = parseJson(String(body)) as { readonly passedHours: number };
          await db.write.transaction().execute(trx => endWindowsEarlier(trx, principal.tenant.id, passedHours));
          signals.send('events');
        }
        const type = answer.headers.get('content-type') ?? 'application/json';
        return reply
          .code(answer.status)
          .type(type)
          .send(Buffer.from(await answer.arrayBuffer()));
      };
      routes.route({ method: ['GET', 'POST', 'DELETE'], url: '/_emulator/*', bodyLimit: BODY_LIMIT, handler: pass });
    });
  };

/**
 * Ends service windows earlier, as the emulator does: the clock of the database cannot be moved. Each window that was open gets an
 * event, so that pages refresh it.
 */
async function endWindowsEarlier(trx: Db, tenantId: number, passedHours: number): Promise<void> {
  const { rows } = await sql<PublicConversation & { readonly was_open: boolean }>`
    update conversations v set window_expires_at = window_expires_at - make_interval(secs => ${passedHours * 3_600})
    where v.tenant_id = ${tenantId} and v.window_expires_at is not null
    returning ${PUBLIC_CONVERSATION}, v.window_expires_at + make_interval(secs => ${passedHours * 3_600}) > now() as was_open`.execute(
    trx,
  );
  const changed = rows.flatMap(({ was_open, ...conversation }) => (was_open ? [conversation] : []));
  await append(
    trx,
    tenantId,
    changed.map(conversation => ({ type: 'conversation.updated', payload: { conversation } })),
  );
}
