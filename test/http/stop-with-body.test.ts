import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** A server that answers before it has the body, and then closes its connections as a stopping gateway does. */
const PROGRAM = `
  import { once } from 'node:events';
  import { request } from 'node:http';
  import { fastify } from 'fastify';
  import { limitBodyTime } from ${JSON.stringify(resolve('src/http/request-body.ts'))};
  const HOUR = 3_600_000;
  const app = fastify();
  limitBodyTime(app, { bodyMs: HOUR, uploadIdleMs: HOUR, lingerMs: HOUR });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.put('/', { config: { upload: true } }, async (_request, reply) => reply.code(422).send('no'));
  const client = request(await app.listen({ port: 0, host: '127.0.0.1' }), { method: 'PUT', headers: { 'content-type': 'a/b', 'content-length': 1e6 } });
  client.on('error', () => undefined);
  client.write('x');
  const [response] = await once(client, 'response');
  app.server.closeAllConnections();
  client.destroy();
  await app.close();
  process.stdout.write(String(response.statusCode));
`;

test('a body that is still arriving after its response does not keep a stopped process', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    timeout: 60_000,
  });
  expect(stdout).toBe('422');
});
