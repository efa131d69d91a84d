import { backoffMs, pause } from '../../client/backoff.ts';
import { type ParleyClient, ParleyError } from '../../client/client.ts';
import { isRefusal } from '../../client/token.ts';

type Body = Parameters<ParleyClient['stream']>[0] & { readonly variables: Record<string, unknown> };

/**
 * Yields the results of a subscription. If its first result is the present state, it is opened again after a temporary error, such as an
 * unavailable database; otherwise the page would show outdated values until it is reloaded. With a cursor (`after`) it ends instead,
 * because the page has to read what it missed.
 * @throws ParleyError if the gateway refuses it
 */
export async function* followAnew(client: ParleyClient, body: Body, signal: AbortSignal): AsyncGenerator<unknown> {
  const isResumable = 'after' in body.variables;
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const data of client.stream(body, signal)) {
        failures = 0;
        yield data;
      }
      return;
    } catch (error) {
      if (isResumable || !(error instanceof ParleyError) || isRefusal(error)) throw error;
    }
    await pause(backoffMs(failures), signal);
  }
}
