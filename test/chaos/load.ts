import { setTimeout as sleep } from 'node:timers/promises';
import { sendText } from '../support/processes.ts';
import type { Rig } from './rig.ts';

const CLIENTS = 32;
const PEOPLE = 500;
const RETRY_MS = 250;

/**
 * Sends texts evenly over `durationMs`. A send that was not answered is repeated with its idempotency key until it is accepted, as
 * clients do.
 * @param name makes the keys of one fault differ from those of another
 * @returns the ids of the accepted messages
 */
export async function sendTexts(
  rig: Rig,
  name: string,
  count: number,
  durationMs: number,
  onAccepted: (accepted: number) => void,
): Promise<string[]> {
  const accepted: string[] = [];
  const start = performance.now();
  let next = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const index = next;
      next += 1;
      if (index >= count) return;
      const waitMs = start + (index / count) * durationMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      accepted.push(await sendOne(rig, name, index));
      onAccepted(accepted.length);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return accepted;
}

async function sendOne(rig: Rig, name: string, index: number): Promise<string> {
  const token = rig.tokens[index % rig.tokens.length] ?? '';
  const input = {
    to: `+1415555${1_000 + (index % PEOPLE)}`,
    text: `${name} ${index}`,
    idempotencyKey: `${name}-${index}`,
  };
  for (;;) {
    const id = await sendText(rig.gatewayUrl, token, input);
    if (id !== undefined) return id;
    await sleep(RETRY_MS);
  }
}
