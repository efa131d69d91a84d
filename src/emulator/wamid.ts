import { randomBytes } from 'node:crypto';

/**
 * A message id in the network's format: `wamid.` and base64 of a Thrift record with the peer's number and a random key. Imitated because
 * its properties matter: 62 characters or more, contains `/`, `+` and `=`, and is personal data. The direction byte differs as in
 * recorded ids.
 */
export function newWamid(person: string, direction: 'outgoing' | 'incoming'): string {
  const peer = Buffer.from(person, 'ascii');
  const key = Buffer.from(
    randomBytes(direction === 'outgoing' ? 9 : 10)
      .toString('hex')
      .toUpperCase(),
    'ascii',
  );
  const head = Buffer.from([0x1c, 0x18, peer.length]);
  const middle = Buffer.from([0x15, 0x02, 0x00, direction === 'outgoing' ? 0x11 : 0x12, 0x18, key.length]);
  return `wamid.${Buffer.concat([head, peer, middle, key, Buffer.from([0])]).toString('base64')}`;
}

/** Object ids of the Graph API: 15 digits and a leading one to nine, so that they are safe integers. */
export function newObjectId(): string {
  return `1${(randomBytes(6).readUIntBE(0, 6) % 1e15).toString().padStart(15, '0')}`;
}
