import { createServer } from 'node:http';
import { environment } from './environment.ts';

/** Accepts and counts POSTs; GET returns their number. */
let count = 0;
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.method === 'POST') count += 1;
    response.end(request.method === 'POST' ? '' : String(count));
  });
});
server.keepAliveTimeout = 60_000;

// A profile is only written by a process that ends by itself.
process.once('SIGTERM', () => process.exit(0));

server.listen(Number(environment('PORT')), '127.0.0.1');
