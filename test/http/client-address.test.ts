import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { clientAddress } from '../../src/http/client-address.ts';

const requestOf = (forwarded: string | undefined, remoteAddress = '10.0.0.1') =>
  ({
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    socket: { remoteAddress },
  }) as unknown as IncomingMessage;

test.each([
  ['198.51.100.1', 0, '10.0.0.1'],
  [undefined, 1, '10.0.0.1'],
  [' , ', 1, '10.0.0.1'],
  ['198.51.100.1', 1, '198.51.100.1'],
  ['192.0.2.1, 198.51.100.1', 1, '198.51.100.1'],
  ['192.0.2.1,198.51.100.1 , 203.0.113.1', 2, '198.51.100.1'],
  ['198.51.100.1', 2, '198.51.100.1'],
])('X-Forwarded-For %j behind %i proxies is the client %s', (forwarded, proxies, address) => {
  expect(clientAddress(requestOf(forwarded), proxies)).toBe(address);
});

test.each([
  ['::ffff:198.51.100.1', '198.51.100.1'],
  ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['', ''],
])('a connection from %s is counted as %s', (remoteAddress, address) => {
  expect(clientAddress(requestOf(undefined, remoteAddress), 0)).toBe(address);
});

test.each([
  [undefined, 0],
  ['false', 0],
  ['true', 1],
  ['1', 1],
  ['3', 3],
])('PARLEY_TRUST_PROXY=%s are %i proxies', (value, proxies) => {
  const env = value === undefined ? {} : { PARLEY_TRUST_PROXY: value };
  expect(loadConfig(env).trustedProxies).toBe(proxies);
});
